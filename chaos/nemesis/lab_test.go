// Package nemesis runs the faults of package chaos on real processes: services and clients in containers, each with its
// address, its file system and its processes.
package nemesis

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"dodoor/internal/needs"
)

const (
	image = "dodoor/functionbench:latest" // any Debian does: what runs in the containers comes from outside
	label = "dodoor.chaos"                // on what belongs to this package; its value is the process that made it
	disk  = "/journal"                    // in the host of a scheduler: small, so that it can be full
)

// diskMB is room for a journal, and what a scheduler wants to be left beside it.
const diskMB = 128

// lab is some hosts that are up. Their processes come and go with every seed.
type lab struct {
	folder   string // of this machine, and at the same path in every host
	network  string
	binaries []string // two builds of dodoor
	hosts    map[string]*host
}

// host is a container with an address. Nothing runs in it but what is started there.
type host struct {
	name, container, address string
	pid                      int // of its first process, whose namespaces are the host's
}

// newLab starts hosts of the given names. close removes them.
func newLab(t testing.TB, names []string) *lab {
	t.Helper()
	needs.Real(t, lacking())
	sweep()
	folder, err := os.MkdirTemp("/var/tmp", "dodoor-chaos-") // not in /tmp, which is emptied in the hosts
	if err != nil {
		t.Fatal(err)
	}
	l := &lab{folder: folder, network: fmt.Sprintf("dodoor-chaos-%d", os.Getpid()), hosts: map[string]*host{}}
	t.Cleanup(l.close)
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"one", "two"} {
		l.binaries = append(l.binaries, l.build(t, "dodoor-"+version, "dodoor/cmd/dodoor", version))
	}
	l.build(t, "task", "./testdata/task", "one")
	must(t, "docker", "network", "create", "--label", owned(), l.network)
	var starts sync.WaitGroup
	failures := make([]error, len(names))
	for i, name := range names {
		h := &host{name: name, container: l.network + "-" + name}
		l.hosts[name] = h
		starts.Go(func() { failures[i] = l.start(h) })
	}
	starts.Wait()
	if err := errors.Join(failures...); err != nil {
		t.Fatal(err)
	}
	return l
}

// lacking says what of the machine's is missing.
func lacking() error {
	for _, program := range []string{"docker", "nsenter", "iptables"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("hosts are containers: %w: scripts/install-deps test", err)
		}
	}
	if os.Geteuid() != 0 {
		return errors.New("only root can cut the network of a container")
	}
	if _, err := try("docker", "image", "inspect", image); err != nil {
		return fmt.Errorf("hosts need an image: scripts/functionbench-image: %w", err)
	}
	return nil
}

func owned() string { return fmt.Sprintf("%s=%d", label, os.Getpid()) }

// build makes a program that needs no library of its host's.
func (l *lab) build(t testing.TB, name, what, version string) string {
	t.Helper()
	path := filepath.Join(l.folder, name)
	cmd := exec.Command("go", "build", "-ldflags", "-s -w -X dodoor/internal/version.version="+version, "-o", path, what)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return path
}

func (l *lab) start(h *host) error {
	_, err := try("docker", "run", "-d", "--init", "--name", h.container, "--hostname", h.name, "--label", owned(), "--network", l.network,
		"--user", "0", "--workdir", "/", "--tmpfs", fmt.Sprintf("%s:size=%dm", disk, diskMB), "-v", l.folder+":"+l.folder,
		"--entrypoint", "sleep", image, "infinity")
	if err != nil {
		return err
	}
	about, err := try("docker", "inspect", "-f", "{{.State.Pid}} {{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", h.container)
	if err != nil {
		return err
	}
	fields := strings.Fields(about)
	if len(fields) != 2 {
		return fmt.Errorf("%s has no address: %q", h.container, about)
	}
	h.address = fields[1]
	h.pid, err = strconv.Atoi(fields[0])
	return err
}

// close removes everything. It is called again when an earlier call was cut short.
func (l *lab) close() {
	remove(owned())
	_ = os.RemoveAll(l.folder)
}

// remove removes the containers and the networks that have a label.
func remove(label string) {
	for _, kind := range []struct{ list, remove []string }{
		{[]string{"ps", "-aq"}, []string{"rm", "-f", "-v"}},
		{[]string{"network", "ls", "-q"}, []string{"network", "rm"}},
	} {
		if found, err := try("docker", append(kind.list, "--filter", "label="+label)...); err == nil && found != "" {
			_, _ = try("docker", append(kind.remove, strings.Fields(found)...)...)
		}
	}
}

// sweep removes what earlier runs have left that were killed.
func sweep() {
	for _, list := range [][]string{{"ps", "-a"}, {"network", "ls"}} {
		owners, err := try("docker", append(list, "--filter", "label="+label, "--format", `{{.Label "`+label+`"}}`)...)
		if err != nil {
			continue
		}
		for _, owner := range strings.Fields(owners) {
			if _, err := os.Stat("/proc/" + owner); errors.Is(err, os.ErrNotExist) {
				remove(label + "=" + owner)
			}
		}
	}
}

// inside is the path of a file of the host, as this machine sees it.
func (h *host) inside(path string) string { return fmt.Sprintf("/proc/%d/root%s", h.pid, path) }

// within is the command that runs another in some of the host's namespaces: net, or all.
func (h *host) within(spaces ...string) []string {
	return append([]string{"nsenter", "-t", strconv.Itoa(h.pid)}, spaces...)
}

func try(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s%s", strings.Join(cmd.Args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

func must(t testing.TB, name string, args ...string) {
	t.Helper()
	if _, err := try(name, args...); err != nil {
		t.Fatal(err)
	}
}
