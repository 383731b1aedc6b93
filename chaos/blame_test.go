package chaos_test

import (
	"testing"
	"time"

	"dodoor/chaos"
	"dodoor/sim"
)

// A fault excuses what comes while it is felt: for a while after its end, and for as long as another one kept it from being noticed.
func TestWhatAFaultExcuses(t *testing.T) {
	second := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	worker := sim.Fault{What: sim.FaultWorker, Name: "small-1", Until: second(1)}
	stalls := func(from, to float64) sim.Fault {
		return sim.Fault{What: sim.FaultDatastore, How: sim.Stalls, At: second(from), Until: second(to)}
	}
	for name, c := range map[string]struct {
		submitted float64
		faults    []sim.Fault
		excused   bool
	}{
		"soon after":           {3.9, []sim.Fault{worker}, true},
		"long after":           {4.1, []sim.Fault{worker}, false},
		"nobody could hear":    {7.9, []sim.Fault{worker, stalls(2, 5)}, true},
		"nor then":             {11.9, []sim.Fault{stalls(7, 9), worker, stalls(2, 5)}, true},
		"they could meanwhile": {4.6, []sim.Fault{worker, stalls(4.5, 5)}, false},
		"it never ends":        {100, []sim.Fault{{What: sim.FaultWorker, Name: "small-1"}}, true},
	} {
		h := good()
		h[0].Scenario.Tasks[2].At, h[0].Scenario.Faults = second(c.submitted), c.faults
		lost := &h[at(3, collected)]
		lost.At, lost.Outcome, lost.Reason = second(c.submitted+1), "lost", "its worker died"
		if found := chaos.Check(h); (len(found) == 0) != c.excused {
			t.Errorf("%s: %q", name, found)
		}
	}
}
