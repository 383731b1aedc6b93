package main

import (
	"bytes"
	"encoding/pem"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// somebody has an authority in folder/ca and works in folder/certs.
type somebody struct {
	t          *testing.T
	ca, folder string
	printed    strings.Builder // by all commands
}

func newAuthority(t *testing.T) *somebody {
	t.Helper()
	root := t.TempDir()
	s := &somebody{t: t, ca: filepath.Join(root, "ca"), folder: filepath.Join(root, "certs")}
	s.does("create")
	return s
}

// at is a path in the folder of bundles.
func (s *somebody) at(names ...string) string {
	return filepath.Join(append([]string{s.folder}, names...)...)
}

// certs runs dodoor certs with the authority.
func (s *somebody) certs(args ...string) (stdout, stderr string, code int) {
	stdout, stderr, code = dodoor(append([]string{"certs", args[0], "-ca", s.ca}, args[1:]...)...)
	s.printed.WriteString(stdout + stderr)
	return stdout, stderr, code
}

// does is certs for what has to work.
func (s *somebody) does(args ...string) string {
	s.t.Helper()
	stdout, stderr, code := s.certs(args...)
	if code != exitDone || stderr != "" {
		s.t.Fatalf("certs %q: exit code %d\n%s%s", args, code, stdout, stderr)
	}
	return stdout
}

// refuses is certs for what must not work.
func (s *somebody) refuses(code int, says string, args ...string) {
	s.t.Helper()
	stdout, stderr, got := s.certs(args...)
	if got != code || !strings.Contains(stderr, says) {
		s.t.Errorf("certs %q: exit code %d, says %q; want %d and %q\n%s", args, got, stderr, code, says, stdout)
	}
}

// opens reads a bundle as a service does.
func (s *somebody) opens(name string) *identity.Bundle {
	s.t.Helper()
	b, err := identity.Open(s.at(name), "dodoor")
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

func (s *somebody) text(path string) []byte {
	s.t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		s.t.Fatal(err)
	}
	return text
}

// Bundles of a whole inventory are what services open; again nothing happens, and what is missing is issued.
func TestCertsOfAnInventory(t *testing.T) {
	s := newAuthority(t)
	all := []string{"all", "-conf", "cluster-example", "-out", s.folder}
	if printed := s.does(all...); strings.Count(printed, " issued ") != 10 {
		t.Errorf("all prints\n%s", printed)
	}
	for name, want := range map[string]identity.Identity{
		"datastore-node-1": {Role: identity.DataService, Name: "datastore-node-1"},
		"scheduler-node-2": {Role: identity.Scheduler, Name: "scheduler-node-2"},
		"node-6":           {Role: identity.Worker, Name: "node-6"},
		"operator":         {Role: identity.Operator, Name: "operator"},
	} {
		if got := s.opens(name).Own(); got != want {
			t.Errorf("certs/%s is of %s", name, got)
		}
	}
	key := s.text(s.at("node-1", identity.KeyFile))
	if err := os.RemoveAll(s.at("node-2")); err != nil {
		t.Fatal(err)
	}
	if printed := s.does(all...); strings.Count(printed, " kept ") != 9 || strings.Count(printed, " issued ") != 1 {
		t.Errorf("all again prints\n%s", printed)
	}
	if !bytes.Equal(key, s.text(s.at("node-1", identity.KeyFile))) {
		t.Error("all again made another key")
	}
	if printed := s.does("show", s.folder); strings.Count(printed, " good ") != 10 {
		t.Errorf("show prints\n%s", printed)
	}
	s.refuses(exitFailed, "has the bundle of worker node-1", "all", "-conf", s.with("node-1"), "-out", s.folder)
}

// with is a configuration without hosts whose scheduler has a name.
func (s *somebody) with(scheduler string) string {
	return write(s.t, "one.toml", `scheduler = { name = "`+scheduler+`" }
class = [{ name = "c", cores = 1, memory_mb = 1 }]
task_type = [{ name = "t" }]
`)
}

// A configuration without hosts has the services that it names.
func TestCertsOfAConfiguration(t *testing.T) {
	s := newAuthority(t)
	printed := s.does("all", "-conf", "production", "-out", s.folder)
	for _, name := range []string{"datastore", "scheduler-1", "scheduler-2", "worker-1", "operator"} {
		if got := s.opens(name).Own().Name; got != name {
			t.Errorf("certs/%s is %s's", name, got)
		}
	}
	if strings.Count(printed, " issued ") != 5 {
		t.Errorf("all prints\n%s", printed)
	}
	domain := write(t, "domain.toml", `security = { folder = "own", domain = "lab" }
class = [{ name = "c", cores = 1, memory_mb = 1 }]
task_type = [{ name = "t" }]
`)
	s.refuses(exitUsage, `has the domain "lab" (security.domain), the authority in `, "all", "-conf", domain)
	lab := newAuthority(t)
	lab.ca += "-lab"
	lab.does("create", "-domain", "lab")
	own := filepath.Join(filepath.Dir(domain), "own", "operator") // where commands look
	if printed := lab.does("all", "-conf", domain); !strings.Contains(printed, own) {
		t.Errorf("all prints\n%s", printed)
	}
	s.refuses(exitUsage, "scheduler worker-1 and worker worker-1 have one name", "all", "-conf", s.with("worker-1"), "-out", s.folder)
}

// Keys are their owner's alone, nothing of one is ever printed, and what is there is not overwritten.
func TestCertsKeepSecrets(t *testing.T) {
	s := newAuthority(t)
	s.does("issue", "user", "alice", "-out", s.folder)
	s.does("renew", "-within", "40d", s.at("alice"))
	s.does("show", s.ca, s.folder, s.at("alice", identity.CertFile))
	s.does("revoke", "alice", "-to", s.folder)
	for path, want := range map[string]fs.FileMode{
		s.ca: 0o700, filepath.Join(s.ca, authority.KeyFile): 0o600, s.at("alice"): 0o700, s.at("alice", identity.KeyFile): 0o600,
	} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v; want mode %v", path, info.Mode(), err, want)
		}
	}
	for _, path := range []string{filepath.Join(s.ca, authority.KeyFile), s.at("alice", identity.KeyFile)} {
		block, _ := pem.Decode(s.text(path))
		if secret := strings.Split(string(pem.EncodeToMemory(block)), "\n")[1]; strings.Contains(s.printed.String(), secret) ||
			strings.Contains(s.printed.String(), "PRIVATE") {
			t.Errorf("%s was printed:\n%s", path, s.printed.String())
		}
	}
	before := s.text(filepath.Join(s.ca, authority.KeyFile))
	s.refuses(exitFailed, "there is an authority already", "create")
	s.refuses(exitFailed, "has a bundle", "issue", "user", "alice", "-out", s.folder)
	if !bytes.Equal(before, s.text(filepath.Join(s.ca, authority.KeyFile))) {
		t.Error("the authority was overwritten")
	}
}

// What ends soon is renewed, with a new key and the same identity; a certificate begins before it is made.
func TestCertsRenew(t *testing.T) {
	s := newAuthority(t)
	s.does("issue", "-out", s.folder, "-validity", "10h", "worker", "w")
	s.does("issue", "-out", s.folder, "worker", "x")
	was, key := s.opens("w").NotAfter(), s.text(s.at("w", identity.KeyFile))
	if left := time.Until(was); left > 10*time.Hour || left < 9*time.Hour {
		t.Errorf("valid for %v", left)
	}
	printed := s.does("renew", s.folder)
	if !strings.Contains(printed, "renewed") || strings.Count(printed, " kept ") != 1 {
		t.Errorf("renew prints\n%s", printed)
	}
	b := s.opens("w")
	if b.Own() != (identity.Identity{Role: identity.Worker, Name: "w"}) || !b.NotAfter().After(was) ||
		bytes.Equal(key, s.text(s.at("w", identity.KeyFile))) {
		t.Errorf("renewed: %s until %s", b.Own(), b.NotAfter())
	}
	certs, err := certsIn(s.at("w", identity.CertFile))
	if err != nil || time.Since(certs[0].NotBefore) < authority.Backdate {
		t.Errorf("begins %v, %v", certs[0].NotBefore, err)
	}
	if printed := s.does("issue", "-out", s.folder, "-validity", "36500d", "user", "u"); !strings.Contains(printed, ", with its authority") {
		t.Errorf("issue prints %s", printed)
	}
	other := newAuthority(t)
	other.refuses(exitFailed, "is not of the authority in", "renew", s.at("w"))
	if err := os.Remove(s.at("x", identity.KeyFile)); err != nil {
		t.Fatal(err)
	}
	s.refuses(exitFailed, "its key is elsewhere", "renew", "-within", "40d", s.at("x"))
}
