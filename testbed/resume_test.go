package testbed

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// Whoever runs scripts/cluster may be gone in the middle of up, with everything that it has started here. The next up goes on
// from there, and down takes back what was done.
func TestAHalfFinishedUp(t *testing.T) {
	t.Parallel() // most of it is waiting
	l := newLab(t, 2)
	l.inventory(l.hosts, work)
	for _, moment := range []string{"put", "host up"} {
		for _, then := range []string{"up", "down"} {
			// The second time, one host is done or about to be, and the other is not.
			ssh := l.script("ssh", fmt.Sprintf(`case "${*//"'"/}" in *' %s '*) mkdir %s/once 2>/dev/null || pkill -KILL -s 0 ;; esac
				exec %s "$@"`, moment, t.TempDir(), l.ssh()))
			cmd := l.command(t.Context(), ssh, l.binary, "up")
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if o := l.begin(cmd)(); o.err == nil {
				t.Fatalf("%s: it was not killed: %d\n%s", moment, o.code, o.output)
			}
			l.ok(then)
			if then == "up" {
				if now := l.ok("status"); strings.Count(now, `"running":true`) != 5 {
					t.Errorf("%s: up again:\n%s", moment, now)
				}
				l.ok("down")
			}
			for _, h := range l.hosts {
				if left := l.processes(h); left != "" {
					t.Errorf("%s: left running on %s:\n%s", moment, h.name, left)
				}
			}
		}
	}
}
