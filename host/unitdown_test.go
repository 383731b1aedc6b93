package host

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestDownWhateverItFinds(t *testing.T) {
	for name, prepare := range map[string]func(*fakeSystemd){
		"stopped": func(s *fakeSystemd) {
			now, err := s.Folder.StateOf("h")
			if err != nil || syscall.Kill(now.Supervisor, syscall.SIGTERM) != nil {
				s.t.Fatal(now, err)
			}
			eventually(s.t, s.Folder, "it does not run", func(s State) bool { return !s.Running })
		},
		"its file is gone": func(s *fakeSystemd) {
			if err := os.Remove(filepath.Join(s.systemd.dir, unitH)); err != nil {
				s.t.Fatal(err)
			}
		},
		"its files are gone, and systemd is about to start it again": func(s *fakeSystemd) {
			if err := os.RemoveAll(s.systemd.dir); err != nil {
				s.t.Fatal(err)
			}
			s.write(s.tools+"/state", "activating\n")
		},
		"systemd has forgotten it": func(s *fakeSystemd) {
			s.fail("stop")
			s.write(s.tools+"/state", "inactive\n")
		},
		"only its link is left": func(s *fakeSystemd) {
			now, err := s.Folder.StateOf("h")
			if err != nil || syscall.Kill(now.Supervisor, syscall.SIGTERM) != nil || os.Remove(filepath.Join(s.systemd.dir, unitH)) != nil {
				s.t.Fatal(now, err)
			}
			eventually(s.t, s.Folder, "it does not run", func(s State) bool { return !s.Running })
			s.write(s.tools+"/state", "inactive\n")
		},
		"the cluster has another name now": func(s *fakeSystemd) { s.c.Cluster.Name = "another" },
		"the host has another name now":    func(s *fakeSystemd) { s.services = nil },
		"not enabled": func(s *fakeSystemd) {
			if err := os.Remove(filepath.Join(s.systemd.dir, wantsH)); err != nil {
				s.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := withSystemd(t, "")
			s.up()
			prepare(s)
			s.called()
			s.down()
			s.mustBe("left", s.left(), "")
			if called := s.called(); !strings.Contains(called, "stop "+unitH) || !strings.Contains(called, "daemon-reload") {
				t.Errorf("called:\n%s", called)
			}
		})
	}
}

// Where systemd does not answer the unit's files go all the same, and the error says what was not done.
func TestDownWithoutSystemd(t *testing.T) {
	s := withSystemd(t, "")
	s.up()
	s.fail("stop")
	s.fail("daemon-reload")
	err := s.Down()
	if err == nil || !strings.Contains(err.Error(), "remove "+unitH+": systemctl --user stop "+unitH+": exit status 1: broken stop") ||
		!strings.Contains(err.Error(), "broken daemon-reload") {
		t.Error(err)
	}
	s.mustBe("left", s.left(), "")
	s.write(s.tools+"/state", "inactive\n") // since the service was stopped, systemd or not
	s.down()
}

// A unit of the same name may be another cluster's, or nobody's whom we know.
func TestUnitsOfOthers(t *testing.T) {
	for text, want := range map[string]string{
		"WorkingDirectory=/elsewhere\n": unitH + " is of the cluster in /elsewhere: dodoor host down there, or set another cluster.name",
		"ExecStart=/bin/true\n":         unitH + " is not of dodoor host up: remove it, or set another cluster.name",
	} {
		s := withSystemd(t, "")
		if err := os.MkdirAll(s.systemd.dir, 0o755); err != nil {
			t.Fatal(err)
		}
		s.write(filepath.Join(s.systemd.dir, unitH), text)
		if err := s.Up(time.Minute); err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
		s.called()
		s.down()
		s.c.Cluster.Supervision = "own"
		s.up()
		s.down()
		s.mustBe("left", s.left(), unitH)
		s.mustBe("called", s.called(), "")
	}
}
