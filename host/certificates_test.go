package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// The check says of each service whether it can prove who it is, and for how long.
func TestCertificatesOfAHost(t *testing.T) {
	f, _ := stage(t, "")
	a := agent(t, f)
	a.c.Security.Folder = "certs" // below the folder, wherever this process is
	certs := filepath.Join(string(f), "certs")
	ca, err := authority.Create(filepath.Join(t.TempDir(), "ca"), "dodoor", 365*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	other, err := authority.Create(filepath.Join(t.TempDir(), "ca"), "dodoor", 365*24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	issue := func(by *authority.Authority, role identity.Role, name, folder string, validity time.Duration) {
		t.Helper()
		if err := by.Issue(identity.Identity{Role: role, Name: name}, filepath.Join(certs, folder), validity); err != nil {
			t.Fatal(err)
		}
	}
	const long = 40 * 24 * time.Hour
	check := func(what string, wants ...string) {
		t.Helper()
		found := a.checkSecurity(time.Now())
		if len(found) != len(wants) {
			t.Fatalf("%s: %+v, want %d", what, found, len(wants))
		}
		for i, want := range wants {
			if !strings.Contains(found[i].Problem, want) || found[i].Warning != strings.HasPrefix(want, "the certificate of ") {
				t.Errorf("%s: %+v, want %q", what, found[i], want)
			}
		}
	}
	check("none", "datastore-a cannot prove who it is: security.folder: no bundle of the datastore datastore-a", "no bundle of the scheduler",
		"no bundle of the worker a ")
	issue(ca, identity.DataService, "datastore-a", "datastore-a", long)
	issue(ca, identity.Scheduler, "scheduler-a", "scheduler-a", 6*24*time.Hour)
	issue(ca, identity.Worker, "b", "a", long)
	check("soon over, and another's", "the certificate of scheduler-a ends ", "worker b is there, worker a is expected")
	issue(ca, identity.Scheduler, "scheduler-a", "scheduler-a", time.Nanosecond)
	issue(other, identity.Worker, "a", "a", long)
	own, err := os.ReadFile(filepath.Join(certs, "datastore-a", identity.CAFile))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(certs, "a", identity.CAFile), own, 0o600); err != nil {
		t.Fatal(err)
	}
	check("over, and another authority's", "scheduler scheduler-a expired ", "which is none of the authorities in ca.pem")
	issue(ca, identity.Scheduler, "scheduler-a", "scheduler-a", long)
	issue(ca, identity.Worker, "a", "a", long)
	if _, err := ca.Revoke("datastore-a"); err != nil {
		t.Fatal(err)
	}
	if err := ca.Spread(filepath.Join(certs, "datastore-a")); err != nil {
		t.Fatal(err)
	}
	check("revoked", "datastore datastore-a was revoked on ")
	a.c.Security.Folder = ""
	check("plaintext on loopback")
	a.services[0].Host.Address = "10.0.0.1"
	check("plaintext for everybody", "the address of datastore-a", "the address of scheduler-a", "the address of a ")
	a.c.Security.Insecure = true
	check("as it was wanted")
}
