package profile

import "testing"

func TestBusyMachine(t *testing.T) {
	if got := busyIn("cpu  100 20 3 9999 888 4 5 6 777 66\n").Milliseconds(); got != 10*(100+20+3+4+5+6) {
		t.Errorf("%d ms busy", got)
	}
	for _, line := range []string{"", "cpu", "cpu x y"} {
		if got := busyIn(line); got != 0 {
			t.Errorf("%q: %v", line, got)
		}
	}
	for _, c := range []struct {
		cpus          int
		others, limit float64
		want          bool
	}{{2, 0, 2, false}, {2, 0.3, 2, false}, {2, 0.5, 2, true}, {2, 0.9, 1, false}, {2, 1.5, 1, true}, {2, 0.1, 16, false}, {8, 6, 1, false}} {
		if got := crowded(c.cpus, c.others, c.limit); got != c.want {
			t.Errorf("%+v: %t", c, got)
		}
	}
	if l := startLoad(); l.busy == 0 || l.others(0) != 0 {
		t.Errorf("busy for %v since boot, and already again", l.busy)
	}
}
