package host

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A fakeSystemd is an agent whose host has a systemd: two scripts that do what is asked for, and note it. A verb fails where a
// file of its name says with which message.
type fakeSystemd struct {
	*Agent
	t     *testing.T
	tools string // the scripts, what was called, what fails
	out   strings.Builder
}

const fakeSystemctl = `#!/bin/sh
echo "systemctl $*" >>CALLS
[ "$1" != --user ] || shift
[ ! -e "FAIL.$1" ] || { cat "FAIL.$1" >&2; exit 1; }
case "$1 $3" in
"restart "*) echo active >STATE; setsid $(sed -n 's/^ExecStart=//p' "UNITS/$2") <&- >/dev/null 2>&1 & ;;
"enable "*) mkdir -p UNITS/default.target.wants && ln -sf "../$2" UNITS/default.target.wants/ ;;
"stop "*) echo inactive >STATE ;;
*ActiveState) cat STATE ;;
*WorkingDirectory) echo FOLDER ;;
"show --value") cat VERSION ;;
esac
`

const fakeLoginctl = `#!/bin/sh
echo "loginctl $*" >>CALLS
case "$*" in
show-user*) cat LINGER ;;
*enable-linger*) [ ! -e FAIL.enable-linger ] || { cat FAIL.enable-linger >&2; exit 1; }; echo yes >LINGER ;;
esac
`

// withSystemd is the agent of a host of one service, a worker, which is a shell script, and its user's systemd. More is of its
// configuration.
func withSystemd(t *testing.T, more string) *fakeSystemd {
	t.Helper()
	folder, program := stage(t, `trap 'exit 0' TERM; while :; do sleep 0.01; done`)
	answers, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { answers.Close() })
	s := &fakeSystemd{t: t, tools: t.TempDir()}
	s.Agent = &Agent{Folder: folder, Configuration: folder.Configuration(), Host: "h", Out: &s.out}
	s.write(folder.Configuration(), fmt.Sprintf(more+"\n[[host]]\nname = \"x\"\naddress = \"x\"\nroles = [\"datastore\", \"scheduler\"]\n"+
		"[[host]]\nname = \"h\"\naddress = \"127.0.0.1\"\nroles = [\"worker\"]\nclass = \"auto\"\nports = { worker = %d }\n",
		answers.Addr().(*net.TCPAddr).Port))
	if err := s.Read(nil); err != nil {
		t.Fatal(err)
	}
	s.systemd = systemd{booted: s.tools, dir: filepath.Join(t.TempDir(), "units"), uid: 1000}
	paths := strings.NewReplacer("CALLS", s.tools+"/calls", "FAIL", s.tools+"/fail", "UNITS", s.systemd.dir, "STATE", s.tools+"/state",
		"VERSION", s.tools+"/version", "FOLDER", string(folder), "LINGER", s.tools+"/linger")
	s.write(s.tools+"/systemctl", paths.Replace(fakeSystemctl))
	s.write(s.tools+"/loginctl", paths.Replace(fakeLoginctl))
	s.write(s.tools+"/linger", "yes\n")
	s.write(s.tools+"/version", "252\n")
	s.write(s.tools+"/state", "inactive\n")
	s.write(folder.Binary(), "#!/bin/sh\nexec "+os.Args[0]+` "$6" "${10}" "${12}"`+"\n") // see supervisor
	t.Setenv("PATH", s.tools+":"+os.Getenv("PATH"))
	t.Setenv(asSupervisor, program)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if _, err := Stop(ctx, folder, "h"); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *fakeSystemd) write(path, text string) {
	s.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

// called tells what was since it was asked for the last time.
func (s *fakeSystemd) called() string {
	s.t.Helper()
	text, err := os.ReadFile(s.tools + "/calls")
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	s.write(s.tools+"/calls", "")
	return string(text)
}

// fail makes a verb fail from now on.
func (s *fakeSystemd) fail(verb string) { s.write(s.tools+"/fail."+verb, "broken "+verb+"\n") }

// left lists what is in the folder of units.
func (s *fakeSystemd) left() string {
	var all []string
	_ = filepath.WalkDir(s.systemd.dir, func(path string, d os.DirEntry, _ error) error {
		if d != nil && path != s.systemd.dir {
			all = append(all, strings.TrimPrefix(path, s.systemd.dir+"/"))
		}
		return nil
	})
	return strings.Join(all, " ")
}
