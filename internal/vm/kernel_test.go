package vm

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"
)

// step is a script on the machine and how it should end.
type step struct {
	name, script string
	code         int
	says         string // is in its output
}

// aboutGroups are the tests of tasks that another version of groups may break. The others, some of which need more programs
// than the machine has, would tell nothing new.
const aboutGroups = "Group|Limit|Throttled|Threads|Killed|ManyTasks|Escape|Neighbours|Measured"

// common is what all steps need. Tests in two modes run in the one with groups, and with the processes that are hardest to
// find. A step runs in a shell of its own, whose
// control group it may change.
const common = `
export CI=true DODOOR_TEST_PROGRAM=/tests/task
groups=/sys/fs/cgroup
process="/tests/process.test -test.short -test.skip .*/off|.*/required/(plain|group|session) -test.run"
enter() { mkdir -p $groups/$1; echo 0 >$groups/$1/cgroup.procs; }
# give GROUP: to the user, as systemd does it where a unit has Delegate=yes
give() { mkdir -p $groups/$1; (cd $groups/$1; chown user:user . cgroup.procs cgroup.threads cgroup.subtree_control); }
as_user() { exec /tests/inside user "$@"; }
`

var steps = []step{
	// Files in memory have no attributes there.
	{"groups", `/tests/cgroup.test -test.skip Attribute`, 0, "PASS"},
	{"processes", `/tests/procgroup.test -test.short`, 0, "PASS"},
	{"tasks", `$process '` + aboutGroups + `'`, 0, "PASS"},
	{"a user's group", `give own; enter own; as_user $process 'CPULimit|ForkLimit|OfAPart|Killed|ThreadsGo'`, 0, "PASS"},
	{"a container, two workers and others", `
		enter box; sh -c 'sleep 1000 & echo $!' >other
		/tests/inside container $process 'CPULimit|OfAPart' & one=$!
		/tests/inside container $process Killed; two=$?
		wait $one && [ $two = 0 ] && kill $(cat other) && echo all is well`, 0, "all is well"},
	{"nobody's", `as_user $process CPULimit`, 1,
		"/sys/fs/cgroup: permission denied: it belongs to user 0, and this process is user 1000's: start it as root, or in a group that belongs"},
	{"not alone", `enter shared; sh -c 'sleep 1000 &'; $process CPULimit`, 1,
		"(sleep) is in there: start it in a control group of its own"},
	{"read-only", `unshare -m sh -c 'mount -o remount,bind,ro /sys/fs/cgroup; exec "$@"' sh $process CPULimit`, 1,
		"/sys/fs/cgroup is mounted read-only: start its container with"},
	{"no controllers", `give given/below; enter given/below; as_user $process CPULimit`, 1,
		"given/below has no controller for cpu and memory"},
	{"threads", `
		mkdir -p $groups/threads/below; echo threaded >$groups/threads/below/cgroup.type
		enter threads/below; $process CPULimit`, 1,
		"/sys/fs/cgroup/threads/below is a group of threads (cgroup.type: threaded)"},
}

// patience is for a machine that hangs; all steps together take a minute and a half of an idle one.
const patience = 9 * time.Minute

// A kernel that has version 2 alone, where everybody else's tests run on what the machine has.
func TestVersion2(t *testing.T) {
	m := newMachine(t)
	const begins = "step begins: "
	script := common
	for i, s := range steps {
		script += fmt.Sprintf("echo '%s%d'; (%s\n); echo \"step ends: $?\"\n", begins, i, s.script)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	output, code, err := m.Run(ctx, t.TempDir(), script)
	if err != nil || code != 0 {
		t.Fatalf("%d, %v\n%s", code, err, output)
	}
	for i, s := range steps {
		t.Run(s.name, func(t *testing.T) {
			_, text, begun := strings.Cut(output, fmt.Sprintf("%s%d\n", begins, i))
			text, _, _ = strings.Cut(text, begins)
			if !begun || !strings.Contains(text, fmt.Sprintf("step ends: %d\n", s.code)) || !strings.Contains(text, s.says) {
				t.Errorf("want %q and %d:\n%s", s.says, s.code, text)
			}
		})
	}
}
