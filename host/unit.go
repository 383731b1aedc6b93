package host

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// A unit of systemd runs the supervisor that runs without systemd, too, and that alone starts a service again. What systemd
// adds: the supervisor starts when the machine does, and again when it dies itself; then whatever it left behind is killed.
type unit struct {
	name     string
	service  string
	folder   Folder
	argv     []string      // the supervisor's command
	patience time.Duration // for all of it to end
	system   bool          // of the machine's systemd, not of a user's
}

func unitName(cluster, service string) string {
	return "dodoor-" + cluster + "-" + service + ".service"
}

// What needs no quotes and no escapes: systemd.unit(5), and systemd.service(5) of command lines.
var (
	unitPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,255}$`)
	wordPattern = regexp.MustCompile(`^[A-Za-z0-9._/@+,:=-]+$`)
)

// check refuses what would have to be escaped, here and whenever somebody types the unit's name.
func (u *unit) check() error {
	if !unitPattern.MatchString(u.name) {
		return fmt.Errorf("%.300s is no name for a unit: at most 255 letters, digits, dots, dashes and underscores: "+
			"shorten cluster.name or host.name", u.name)
	}
	for _, word := range append([]string{string(u.folder)}, u.argv...) {
		if !wordPattern.MatchString(word) {
			return fmt.Errorf("%q has characters that a unit would have to escape: choose another folder", word)
		}
	}
	return nil
}

// target is what the unit starts with.
func (u *unit) target() string {
	if u.system {
		return "multi-user.target"
	}
	return "default.target"
}

// growingPauses is the first version of systemd with pauses between restarts that grow. Others would log that they ignore them.
const growingPauses = 254

// text is the unit's file for a version of systemd.
func (u *unit) text(version int) []byte {
	var lines []string
	add := func(key string, value any) { lines = append(lines, fmt.Sprintf("%s=%v", key, value)) }
	section := func(name string) { lines = append(lines, "", "["+name+"]") }

	lines = append(lines, "# Written by dodoor host up; dodoor host down removes it.")
	section("Unit")
	add("Description", "Dodoor's "+u.service)
	add("StartLimitIntervalSec", 0) // like the supervisor's: never too often
	if u.system {
		add("After", "network.target") // which goes later then, so that a service can drain
	}
	section("Service")
	add("Type", "exec")
	add("WorkingDirectory", u.folder)
	add("ExecStart", strings.Join(u.argv, " "))
	add("Restart", "on-failure")
	add("RestartPreventExitStatus", exitUsage)
	add("RestartSec", usual.first)
	if version >= growingPauses {
		steps := 0
		for pause := usual.first; pause < usual.last; pause *= 2 {
			steps++
		}
		add("RestartSteps", steps)
		add("RestartMaxDelaySec", usual.last)
	}
	add("KillMode", "mixed")
	add("TimeoutStopSec", u.patience)
	add("Delegate", "yes")
	add("StandardOutput", "append:"+u.folder.Log(u.service))
	add("StandardError", "append:"+u.folder.Log(u.service))
	section("Install")
	add("WantedBy", u.target())
	return []byte(strings.Join(lines, "\n") + "\n")
}
