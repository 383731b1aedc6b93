// Package testbed tests scripts/cluster on hosts: containers on a network of their own, each with its sshd, its address and
// its file system, and a user without rights.
package testbed

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/needs"
)

const image = "dodoor/testhost"

// lab is some hosts that are up, and an ssh that reaches them.
type lab struct {
	t        *testing.T
	dir      string // keys, ssh's configuration, the inventory
	binary   string
	network  string
	image    string // of the hosts that are added from now on
	hosts    []labHost
	patience time.Duration // with one command
	ran      [][]string    // verbs of scripts/cluster, with their arguments
}

type labHost struct{ name, container, address string }

// without is a lab without hosts.
func without(t *testing.T) *lab {
	return &lab{t: t, dir: t.TempDir(), binary: filepath.Join(t.TempDir(), "dodoor"), image: image, patience: 3 * time.Minute}
}

// newLab starts hosts called node-1 and so on. The end of the test removes them.
func newLab(t *testing.T, n int) *lab {
	t.Helper()
	for _, program := range []string{"docker", "ssh", "ssh-keygen"} {
		if _, err := exec.LookPath(program); err != nil {
			needs.Real(t, fmt.Errorf("%w: scripts/install-deps test", err))
		}
	}
	l := without(t)
	if _, err := l.try("docker", "image", "inspect", "dodoor/functionbench:latest"); err != nil {
		needs.Real(t, fmt.Errorf("hosts need the image of the tasks: scripts/functionbench-image: %w", err))
	}
	l.build(l.binary, "one")
	l.must("docker", "build", "-q", "-t", image, "testdata/host")
	for _, key := range []string{"user", "host"} {
		l.must("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(l.dir, key))
	}
	l.network = fmt.Sprintf("dodoor-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	l.must("docker", "network", "create", l.network)
	t.Cleanup(func() { l.must("docker", "network", "rm", l.network) })
	l.write("config", fmt.Sprintf("Host *\n  User ops\n  IdentityFile %[1]s/user\n  IdentitiesOnly yes\n"+
		"  UserKnownHostsFile %[1]s/known_hosts\n  StrictHostKeyChecking yes\n  LogLevel ERROR\n", l.dir))
	for range n {
		l.add()
	}
	return l
}

// add starts one more host.
func (l *lab) add(options ...string) labHost {
	l.t.Helper()
	h := labHost{name: fmt.Sprintf("node-%d", len(l.hosts)+1)}
	h.container = l.network + "-" + h.name
	l.must("docker", append(append([]string{"create", "--init", "--name", h.container, "--network", l.network}, options...), l.image)...)
	l.t.Cleanup(func() { l.must("docker", "rm", "-f", "-v", h.container) })
	l.must("docker", "cp", "-q", filepath.Join(l.dir, "host"), h.container+":/etc/ssh/ssh_host_ed25519_key")
	l.must("docker", "cp", "-q", filepath.Join(l.dir, "user.pub"), h.container+":/home/ops/.ssh/authorized_keys")
	l.must("docker", "start", h.container)
	h.address = l.address(h)
	l.hosts = append(l.hosts, h)
	l.knowHosts()
	return h
}

// knowHosts tells ssh which key the hosts have at their addresses.
func (l *lab) knowHosts() {
	l.t.Helper()
	key, err := os.ReadFile(filepath.Join(l.dir, "host.pub"))
	if err != nil {
		l.t.Fatal(err)
	}
	var known strings.Builder
	for _, h := range l.hosts {
		fmt.Fprintf(&known, "%s %s\n", h.address, strings.Join(strings.Fields(string(key))[:2], " "))
	}
	l.write("known_hosts", known.String())
}

// address is where a host that is up is reached.
func (l *lab) address(h labHost) string {
	l.t.Helper()
	return strings.TrimSpace(l.must("docker", "inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", h.container))
}

// inside runs a shell command in a host, past its sshd.
func (l *lab) inside(h labHost, user, command string) string {
	l.t.Helper()
	return l.must("docker", "exec", "-u", user, h.container, "sh", "-c", command)
}

// processes lists what of Dodoor runs in a host.
func (l *lab) processes(h labHost) string {
	l.t.Helper()
	return l.inside(h, "root", "pgrep -a dodoor || true")
}

// build makes a binary of a version, a small one: it is copied to every host.
func (l *lab) build(path, version string) {
	l.t.Helper()
	l.must("go", "build", "-ldflags", "-s -w -X dodoor/internal/version.version="+version, "-o", path, "dodoor/cmd/dodoor")
}

func (l *lab) write(name, text string) string {
	l.t.Helper()
	path := filepath.Join(l.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		l.t.Fatal(err)
	}
	return path
}

// inventory writes the configuration of a cluster of some of the hosts: the first runs the data service, the first two a
// scheduler.
func (l *lab) inventory(hosts []labHost, more string) string {
	l.t.Helper()
	var text strings.Builder
	text.WriteString(more)
	for i, h := range hosts {
		roles := []string{`"datastore", "scheduler", "worker"`, `"scheduler", "worker"`, `"worker"`}[min(i, 2)]
		fmt.Fprintf(&text, "[[host]]\nname = %q\naddress = %q\nroles = [%s]\nclass = \"small\"\n", h.name, h.address, roles)
	}
	return l.write("cluster.toml", text.String())
}

// outcome is what came of one run of scripts/cluster.
type outcome struct {
	output string
	code   int
	err    error // it could not run, or did not end in time
}

// ssh is the command that reaches the hosts.
func (l *lab) ssh() string { return "ssh -F " + filepath.Join(l.dir, "config") }

// cluster runs scripts/cluster, and returns what it printed and its exit code.
func (l *lab) cluster(verb string, args ...string) (string, int) {
	l.t.Helper()
	return l.clusterAs(l.ssh(), l.binary, verb, args...)
}

func (l *lab) clusterAs(ssh, binary, verb string, args ...string) (string, int) {
	l.t.Helper()
	o := l.begin(l.command(l.t.Context(), ssh, binary, verb, args...))()
	if o.err != nil {
		l.t.Fatal(o.err)
	}
	return o.output, o.code
}

// command is scripts/cluster on the lab's inventory.
func (l *lab) command(ctx context.Context, ssh, binary, verb string, args ...string) *exec.Cmd {
	l.ran = append(l.ran, append([]string{verb}, args...))
	args = append([]string{verb, "-conf", filepath.Join(l.dir, "cluster.toml")}, args...)
	cmd := exec.CommandContext(ctx, "../scripts/cluster", args...)
	cmd.Env = append(os.Environ(), "DODOOR="+binary, "DODOOR_SSH="+ssh, "DODOOR_CA="+filepath.Join(l.dir, "ca"))
	cmd.WaitDelay = 10 * time.Second // for what it has started, should it be killed
	return cmd
}

// begin starts a command, and returns what waits for its end. What it printed is logged by then.
func (l *lab) begin(cmd *exec.Cmd) func() outcome {
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr = &output, &output
	begin := time.Now()
	err := cmd.Start()
	limit := time.AfterFunc(l.patience, func() { _ = cmd.Cancel() })
	var o outcome
	ended := make(chan struct{})
	l.t.Cleanup(func() { <-ended }) // the test's context has ended by then, and so does the command
	go func() {
		defer close(ended)
		if err == nil {
			err = cmd.Wait()
		}
		limit.Stop()
		took := time.Since(begin).Round(time.Millisecond)
		o.output = output.String()
		if cmd.ProcessState == nil || !cmd.ProcessState.Exited() {
			o.err = fmt.Errorf("%s: %w after %v\n%s", strings.Join(cmd.Args, " "), err, took, o.output)
		} else {
			o.code = cmd.ProcessState.ExitCode()
			l.t.Logf("%s\n%s(exit code %d after %v)", strings.Join(cmd.Args, " "), o.output, o.code, took)
		}
	}()
	return func() outcome {
		<-ended
		return o
	}
}

// start begins to run scripts/cluster, and returns what waits for its end, which must be a success.
func (l *lab) start(verb string, args ...string) func() string {
	l.t.Helper()
	wait := l.begin(l.command(l.t.Context(), l.ssh(), l.binary, verb, args...))
	return func() string {
		l.t.Helper()
		o := wait()
		if o.err != nil || o.code != 0 {
			l.t.Fatalf("%s: exit code %d, %v\n%s", verb, o.code, o.err, o.output)
		}
		return o.output
	}
}

// ok runs scripts/cluster, which must succeed.
func (l *lab) ok(verb string, args ...string) string {
	l.t.Helper()
	output, code := l.cluster(verb, args...)
	if code != 0 {
		l.t.Fatalf("scripts/cluster %s: exit code %d\n%s", verb, code, output)
	}
	return output
}

func (l *lab) try(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s%s", name, strings.Join(args, " "), err, stdout.String(), stderr.String())
	}
	return stdout.String(), nil
}

func (l *lab) must(name string, args ...string) string {
	l.t.Helper()
	output, err := l.try(name, args...)
	if err != nil {
		l.t.Fatal(err)
	}
	return output
}
