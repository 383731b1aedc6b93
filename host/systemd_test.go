package host

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const (
	unitH  = "dodoor-dodoor-h.service"
	wantsH = "default.target.wants/" + unitH
)

func (s *fakeSystemd) up() {
	s.t.Helper()
	if err := s.Up(time.Minute); err != nil {
		s.t.Fatalf("%v\n%s", err, s.out.String())
	}
}

func (s *fakeSystemd) down() {
	s.t.Helper()
	if err := s.Down(); err != nil {
		s.t.Fatal(err)
	}
	if now, err := s.Folder.StateOf("h"); err != nil || now.Running || now.Unit != "" {
		s.t.Errorf("it still runs: %+v, %v", now, err)
	}
}

func (s *fakeSystemd) mustBe(what, got, want string) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: got\n%s\nwant\n%s", what, got, want)
	}
}

// mustBegin is for calls after which it depends on the time how often the state of the unit is asked for.
func (s *fakeSystemd) mustBegin(what, got, want string) {
	s.t.Helper()
	s.mustBe(what, got[:min(len(got), len(want))], want)
}

func TestUnitsComeAndGo(t *testing.T) {
	for name, version := range map[string]string{"new": "255.4-1ubuntu8", "old": "252.39-1~deb12u2", "odd": "v255"} {
		t.Run(name, func(t *testing.T) { unitsComeAndGo(t, version) })
	}
}

func unitsComeAndGo(t *testing.T, version string) {
	s := withSystemd(t, "")
	s.write(s.tools+"/version", version+"\n")
	s.up()
	s.mustBegin("up", s.called(), `loginctl show-user 1000 --property=Linger --value
systemctl --user show --property=Version --value
systemctl --user show --property=Version --value
systemctl --user daemon-reload
systemctl --user enable dodoor-dodoor-h.service
systemctl --user restart dodoor-dodoor-h.service
`)
	first, err := s.Folder.StateOf("h")
	if err != nil || first.Unit != unitH || !strings.Contains(s.out.String(), "h runs, process ") {
		t.Errorf("%+v, %v\n%s", first, err, s.out.String())
	}
	text, err := os.ReadFile(filepath.Join(s.systemd.dir, unitH))
	if strings.Contains(string(text), "RestartSteps") != strings.HasPrefix(version, "255") {
		t.Errorf("version %s:\n%s", version, text)
	}
	if want := s.Folder.Binary() + " host supervise -conf " + s.Folder.Configuration() + " -folder " + string(s.Folder) +
		" -host h -service h -unit " + unitH + "\n"; err != nil || !strings.Contains(string(text), "\nExecStart="+want) {
		t.Errorf("%v\n%s", err, text)
	}
	s.up()
	if again, err := s.Folder.StateOf("h"); err != nil || again != first {
		t.Errorf("up twice: %+v, then %+v, %v", first, again, err)
	}
	s.called()
	s.down()
	s.mustBe("down", s.called(), `systemctl --user stop dodoor-dodoor-h.service
systemctl --user daemon-reload
systemctl --user reset-failed dodoor-dodoor-h.service
`)
	s.mustBe("left", s.left(), "")
	s.down()
	s.mustBe("down twice", s.called(), "systemctl --user show dodoor-dodoor-h.service --property=ActiveState --value\n")
}

func TestRootHasUnitsOfTheMachine(t *testing.T) {
	s := withSystemd(t, "")
	s.systemd.uid = 0
	s.up()
	s.mustBegin("up", s.called(), `systemctl show --property=Version --value
systemctl show --property=Version --value
systemctl daemon-reload
systemctl enable dodoor-dodoor-h.service
systemctl restart dodoor-dodoor-h.service
`)
	text, err := os.ReadFile(filepath.Join(s.systemd.dir, unitH))
	if err != nil || !strings.Contains(string(text), "WantedBy=multi-user.target\n") {
		t.Errorf("%v\n%s", err, text)
	}
}

// Who may linger and does not yet gets it, and a systemd that starts only then is waited for.
func TestLingering(t *testing.T) {
	s := withSystemd(t, "")
	s.write(s.tools+"/linger", "no\n")
	t.Setenv("XDG_RUNTIME_DIR", "")
	s.write(s.tools+"/systemctl", "#!/bin/sh\nif [ \"$2\" = show ]; then echo \"$XDG_RUNTIME_DIR\" >>"+s.tools+"/calls\n"+
		"[ \"$(wc -l <"+s.tools+"/calls)\" -gt 5 ]; fi\n")
	if units, err := s.asUnits(time.Minute); err != nil || !units {
		t.Errorf("%v, %v", units, err)
	}
	s.mustBe("calls", s.called(), `loginctl show-user 1000 --property=Linger --value
loginctl --no-ask-password enable-linger 1000
loginctl show-user 1000 --property=Linger --value
/run/user/1000
/run/user/1000
/run/user/1000
`)
}

// What takes too long is ended, and the error says that it was that.
func TestAHangingSystemd(t *testing.T) {
	s := withSystemd(t, "[cluster]\nsupervision = \"systemd\"")
	s.write(s.tools+"/systemctl", "#!/bin/sh\nexec sleep 1000\n")
	s.systemd.uid = 0
	err := s.Up(50 * time.Millisecond)
	if err == nil || !strings.Contains(err.Error(), "systemctl show --property=Version --value: context deadline exceeded") {
		t.Error(err)
	}
}

// Where units are not possible Dodoor supervises itself, and says why, unless that is an error.
func TestWithoutUnits(t *testing.T) {
	for _, c := range []struct {
		name    string
		prepare func(*fakeSystemd)
		why     string
	}{
		{"no systemd", func(s *fakeSystemd) { s.systemd.booted += "/none" }, "no systemd runs this machine"},
		{"no home", func(s *fakeSystemd) { s.systemd.dir = "" }, "HOME is not set"},
		{"no lingering", func(s *fakeSystemd) {
			s.write(s.tools+"/linger", "no\n")
			s.fail("enable-linger")
		}, "user 1000 has no lingering, so that units would end with the last session: as root, loginctl enable-linger 1000"},
		{"no answer", func(s *fakeSystemd) { s.fail("show") },
			"systemctl --user show --property=Version --value: exit status 1: broken show"},
		{"a long name", func(s *fakeSystemd) { s.c.Cluster.Name = strings.Repeat("a", 250) }, "is no name for a unit"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := withSystemd(t, "[cluster]\nsupervision = \"systemd\"")
			c.prepare(s)
			err := s.Up(time.Minute)
			if err == nil || !strings.HasPrefix(err.Error(), `cluster.supervision is "systemd", and this host cannot: `) ||
				!strings.Contains(err.Error(), c.why) {
				t.Errorf("systemd: %v", err)
			}
			s.c.Cluster.Supervision = "auto"
			s.up()
			now, err := s.Folder.StateOf("h")
			if err != nil || !now.Running || now.Unit != "" || s.left() != "" {
				t.Errorf("%+v, %v, %s", now, err, s.left())
			}
			said := strings.HasPrefix(s.out.String(), "not under systemd, so after a reboot this host needs another up: ") &&
				strings.Contains(s.out.String(), c.why)
			if said == (c.name == "no systemd") {
				t.Errorf("said:\n%s", s.out.String())
			}
			s.down()
		})
	}
}

// Chosen so, systemd is not asked; a unit that was there before goes, or two would start the service at boot.
func TestOwnSupervision(t *testing.T) {
	s := withSystemd(t, "[cluster]\nsupervision = \"own\"")
	s.up()
	s.down()
	if called := s.called(); strings.Contains(called, "start") || strings.Contains(called, "loginctl") {
		t.Errorf("called:\n%s", called)
	}
	if err := os.MkdirAll(s.systemd.dir, 0o755); err != nil {
		t.Fatal(err)
	}
	s.write(filepath.Join(s.systemd.dir, unitH), string(s.unit(&s.services[0]).text(0)))
	s.up()
	s.mustBe("left", s.left(), "")
	if now, err := s.Folder.StateOf("h"); err != nil || !now.Running || now.Unit != "" {
		t.Errorf("%+v, %v", now, err)
	}
}

// A user's systemd that fails is an error that says what failed; what was done until then, down undoes.
func TestSystemdFails(t *testing.T) {
	for _, verb := range []string{"daemon-reload", "enable", "restart"} {
		s := withSystemd(t, "")
		s.fail(verb)
		err := s.Up(time.Minute)
		if err == nil || !strings.HasPrefix(err.Error(), "start h: systemctl --user "+verb) ||
			!strings.HasSuffix(err.Error(), ": exit status 1: broken "+verb) {
			t.Errorf("%s: %v", verb, err)
		}
		if err := os.Remove(s.tools + "/fail." + verb); err != nil {
			t.Fatal(err)
		}
		s.down()
		s.mustBe("left", s.left(), "")
	}
	s := withSystemd(t, "")
	s.write(s.Folder.Binary(), "#!/bin/sh\necho failed >"+s.tools+"/state\n")
	if err := s.Up(time.Minute); err == nil || !strings.HasPrefix(err.Error(), "h ended at once: ") {
		t.Errorf("given up: %v", err)
	}
}
