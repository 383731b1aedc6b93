package testbed

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/internal/poll"
)

// localSSH is an ssh that reaches a folder of this machine instead of a host, and notes what it was asked.
const localSSH = `printf '%%s\n' "$*" >>%s
exec sh -c "${*: -1}"`

// here is a cluster of hosts that are folders of this machine.
func (l *lab) here(n int) {
	l.t.Helper()
	text := work + "[cluster]\nsupervision = \"own\"\n"
	var taken []net.Listener // until all ports are known, so that none is given twice
	defer func() {
		for _, listener := range taken {
			listener.Close()
		}
	}()
	freePort := func() int {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			l.t.Fatal(err)
		}
		taken = append(taken, listener)
		return listener.Addr().(*net.TCPAddr).Port
	}
	for i := range n {
		h := labHost{name: fmt.Sprintf("node-%d", i+1), address: "127.0.0.1"}
		l.hosts = append(l.hosts, h)
		roles := []string{`"datastore", "scheduler", "worker"`, `"worker"`}[min(i, 1)]
		text += fmt.Sprintf("[[host]]\nname = %q\naddress = %q\nfolder = %q\nroles = [%s]\nclass = \"small\"\n", h.name, h.address,
			l.folderOf(h), roles)
		text += fmt.Sprintf("ports = { datastore = %d, scheduler = %d, worker = %d }\n", freePort(), freePort(), freePort())
	}
	l.write("cluster.toml", text)
}

func (l *lab) folderOf(h labHost) string { return filepath.Join(l.dir, "hosts", h.name) }

// secrets are the keys below a folder, by path.
func (l *lab) secrets(folder string) map[string][]byte {
	l.t.Helper()
	all := map[string][]byte{}
	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "key.pem") {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		if info.Mode().Perm() != 0o600 {
			l.t.Errorf("%s has the mode %v", path, info.Mode())
		}
		all[path], err = os.ReadFile(path)
		return err
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return all
}

// Certificates come with the cluster, are renewed while it runs, and go with it. No key is seen on the way.
func TestCertificatesOfACluster(t *testing.T) {
	l := without(t)
	l.build(l.binary, "one")
	l.here(2)
	asked := filepath.Join(l.dir, "asked")
	ssh := l.script("ssh", fmt.Sprintf(localSSH, asked))
	var said strings.Builder
	run := func(code int, says, verb string, args ...string) string {
		t.Helper()
		output, got := l.clusterAs(ssh, l.binary, verb, args...)
		said.WriteString(output)
		if got != code || !strings.Contains(output, says) {
			t.Fatalf("%s: exit code %d, want %d and %q\n%s", verb, got, code, says, output)
		}
		return output
	}
	certs := func(args ...string) {
		t.Helper()
		l.must(l.binary, append([]string{"certs", args[0], "-ca", filepath.Join(l.dir, "ca")}, args[1:]...)...)
	}
	defer func() { l.clusterAs(ssh, l.binary, "down") }()

	run(0, "5 certificates issued", "up")
	first := map[string]map[string][]byte{}
	for i, h := range l.hosts {
		first[h.name] = l.secrets(l.folderOf(h))
		if want := []int{3, 1}[i]; len(first[h.name]) != want {
			t.Errorf("%s has %d keys, want %d", h.name, len(first[h.name]), want)
		}
	}
	key := filepath.Join(l.folderOf(l.hosts[1]), "certs", "node-2", "key.pem")
	running := run(0, `"running":true`, "status")
	if output := run(0, "2 hosts up", "up"); strings.Contains(output, "certificates") {
		t.Errorf("made again:\n%s", output)
	}
	run(0, "node-2\t", "run", "--", "nodes", "-plain")
	run(0, "node-2\t", "run", "-from", "node-2", "-out", l.dir, "--", "nodes", "-plain")
	run(0, "", "drain", "node-2")
	if after := l.secrets(l.folderOf(l.hosts[1])); len(after) != 1 || !bytes.Equal(after[key], first["node-2"][key]) {
		t.Errorf("what was lent is still there, or another key: %d keys", len(after))
	}

	certs("renew", "-within", "40d", filepath.Join(l.dir, "certs", "node-2"))
	run(0, "2 hosts up", "up")
	if after := l.secrets(l.folderOf(l.hosts[1])); bytes.Equal(after[key], first["node-2"][key]) {
		t.Error("a host keeps a key that was renewed")
	}
	if now := run(0, "", "status"); now != running {
		t.Errorf("services started again for new certificates:\n%s, before:\n%s", now, running)
	}

	log := filepath.Join(l.folderOf(l.hosts[1]), "log", "node-2.log")
	ctx, cancel := context.WithTimeout(t.Context(), l.patience)
	defer cancel()
	if !poll.Until(ctx, 100*time.Millisecond, func() bool {
		text, err := os.ReadFile(log)
		return err == nil && strings.Contains(string(text), "certificates loaded again")
	}) {
		t.Error("a service does not take its new certificate")
	}

	certs("revoke", "node-2")
	run(1, "node-2 was revoked", "up")
	run(0, "", "down")
	everything := l.secrets(filepath.Join(l.dir, "hosts"))
	if len(everything) > 0 {
		t.Errorf("keys are left: %d", len(everything))
	}
	text, err := os.ReadFile(asked)
	if err != nil {
		t.Fatal(err)
	}
	if shown := string(text) + said.String(); strings.Contains(shown, "PRIVATE KEY") ||
		slices.ContainsFunc(strings.Split(string(first["node-2"][key]), "\n"), func(line string) bool {
			return line != "" && !strings.HasPrefix(line, "-") && strings.Contains(shown, line)
		}) {
		t.Error("a key was on a command line, or printed")
	}
}
