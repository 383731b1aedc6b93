package assemble

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/conf"
	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
)

// issued is a configuration with the bundles of some identities, which are valid for an hour.
func issued(t *testing.T, ids ...identity.Identity) *conf.Config {
	t.Helper()
	a, err := authority.Create(filepath.Join(t.TempDir(), "ca"), "dodoor", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	c := conf.Default()
	c.Security.Folder = filepath.Join(t.TempDir(), "certs")
	for _, id := range ids {
		if err := a.Issue(id, c.Security.Bundle(id.Name), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// Each proves to be who it is, and nobody else.
func TestWhoProvesWhat(t *testing.T) {
	c := issued(t, identity.Identity{Role: identity.DataService, Name: "datastore"},
		identity.Identity{Role: identity.Scheduler, Name: "scheduler-1"}, identity.Identity{Role: identity.DataService, Name: "datastore-a"},
		identity.Identity{Role: identity.Scheduler, Name: "worker-1"}, identity.Identity{Role: identity.User, Name: "alice"})
	for _, step := range []struct{ role, service, wrong string }{
		{conf.RoleDatastore, "", ""}, {conf.RoleDatastore, "datastore-a", ""}, {conf.RoleScheduler, "", ""},
		{conf.RoleScheduler, "scheduler-9", "security.folder: no bundle of the scheduler scheduler-9 (stat " + c.Security.Folder +
			"/scheduler-9: no such file or directory): make it with `dodoor certs issue scheduler scheduler-9 -out " + c.Security.Folder + "`"},
		{conf.RoleWorker, "", "security.folder: " + c.Security.Folder + "/worker-1 has another's bundle: scheduler worker-1 is there, " +
			"worker worker-1 is expected"},
	} {
		b, err := ServiceBundle(c, step.role, step.service)
		if step.wrong != "" {
			if err == nil || err.Error() != step.wrong {
				t.Errorf("%+v: %v", step, err)
			}
			continue
		}
		if err != nil || b.Own().Role.String() != step.role {
			t.Errorf("%+v: %v", step, err)
		}
	}
	if _, err := RPC(c, nil, ""); err == nil || !strings.Contains(err.Error(), "dodoor certs issue operator operator") ||
		!strings.Contains(err.Error(), "-set security.user=NAME") {
		t.Error("without an operator's bundle:", err)
	}
	c.Security.User = "alice"
	if r, err := RPC(c, nil, ""); err != nil || r.Bundle.Own().String() != "user alice" {
		t.Error(err)
	}
	c.Security.Folder = ""
	if r, err := RPC(c, nil, ""); err != nil || r.Bundle != nil {
		t.Error("plaintext:", err)
	}
}

// A service that everybody would reach in plaintext does not start unless that is wanted, and then it says so.
func TestPlaintextForEverybody(t *testing.T) {
	for _, role := range conf.Roles {
		c := conf.Default()
		c.Datastore.Listen, c.Scheduler.Listen, c.Worker.Listen = "0.0.0.0:0", "0.0.0.0:0", "0.0.0.0:0"
		var said bytes.Buffer
		log := slog.New(slog.NewTextHandler(&said, nil))
		served, err := Serve(t.Context(), c, role, Site{Log: log})
		if served || err == nil || !strings.HasPrefix(err.Error(), role+`.listen is "0.0.0.0:0", which other machines reach`) {
			t.Errorf("%s: %v", role, err)
		}
		c.Security.Insecure = true
		if err := exposes(c, role, log); err != nil || !strings.Contains(said.String(), "plaintext") {
			t.Errorf("%s: %v, %s", role, err, said.String())
		}
		c.HTTP.Listen, c.Security.Insecure = "0.0.0.0:0", false
		if _, err := StartPages(c, nil, log, nil); err == nil || !strings.HasPrefix(err.Error(), "http.listen") {
			t.Error(err)
		}
	}
}

// Pages that others reach are TLS by the service's bundle; on this machine alone they are plaintext, and a token is kept from others.
func TestPagesThatOthersReach(t *testing.T) {
	token := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(token, []byte("0123456789abcdef"), 0o600); err != nil {
		t.Fatal(err)
	}
	b := new(identity.Bundle)
	for listen, secured := range map[string]bool{"127.0.0.1:0": false, "localhost:0": false, "0.0.0.0:0": true, ":0": true} {
		c := conf.Default()
		c.HTTP.Listen, c.HTTP.TokenFile = listen, token
		if a, err := accessOf(c, b); err != nil || (a.Bundle == b) != secured || a.Token != "0123456789abcdef" {
			t.Errorf("%s: %v, %v", listen, a, err)
		}
		if err := os.Chmod(token, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := StartPages(c, nil, slog.New(slog.DiscardHandler), nil)
		if err == nil || secured != strings.HasPrefix(err.Error(), "http.listen") {
			t.Error(err)
		}
		if _, err := accessOf(c, b); err == nil || !strings.HasPrefix(err.Error(), "http.token_file: "+token) {
			t.Error(err)
		}
		if err := os.Chmod(token, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// A worker says that its tasks can read its key, and only where they can.
func TestTasksThatCanReadTheKey(t *testing.T) {
	const certs = "certs"
	own := strconv.Itoa(os.Geteuid())
	for _, c := range []struct {
		folder, executor, user string
		warns                  bool
	}{{certs, "process", own, true}, {certs, "stress-ng", own, true}, {"", "process", own, false}, {certs, "sleep", own, false},
		{certs, "process", "", os.Geteuid() != 0}} {
		cfg := conf.Default()
		cfg.Security.Folder, cfg.Worker.Executor, cfg.Process.User = c.folder, c.executor, c.user
		var said bytes.Buffer
		err := readable(cfg, slog.New(slog.NewTextHandler(&said, nil)))
		if err != nil || strings.Contains(said.String(), "can read its key") != c.warns {
			t.Errorf("%+v: %v, %s", c, err, &said)
		}
	}
}
