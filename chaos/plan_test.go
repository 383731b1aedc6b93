package chaos_test

import (
	"reflect"
	"slices"
	"testing"

	"dodoor/chaos"
	"dodoor/sim"
)

// The same seed plans the same, and another one something else.
func TestASeedIsAScenario(t *testing.T) {
	if a, b := chaos.Plan(7, chaos.Small()), chaos.Plan(7, chaos.Small()); !reflect.DeepEqual(a, b) {
		t.Errorf("seed 7 gives %+v, and %+v", a, b)
	}
	if a, b := chaos.Plan(7, chaos.Small()), chaos.Plan(8, chaos.Small()); reflect.DeepEqual(a.Faults, b.Faults) {
		t.Error("seeds 7 and 8 plan the same faults")
	}
}

// What a place cannot carry out is left out, and nothing else changes.
func TestFaultsThatCannotBeCarriedOut(t *testing.T) {
	some := chaos.Small()
	some.Hows = []string{sim.Dies, sim.Stalls, sim.Parts}
	for seed := range uint64(50) {
		all, few := chaos.Plan(seed, chaos.Small()), chaos.Plan(seed, some)
		all.Faults = slices.DeleteFunc(all.Faults, func(f sim.Fault) bool { return !slices.Contains(some.Hows, f.How) })
		if all.Shape = some; !slices.EqualFunc(all.Faults, few.Faults, func(a, b sim.Fault) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("seed %d: %+v, want %+v", seed, few.Faults, all.Faults)
		}
		all.Faults, few.Faults = nil, nil
		if !reflect.DeepEqual(all, few) {
			t.Errorf("seed %d: another scenario", seed)
		}
	}
}

// Every fault is over in time, every task can run on every worker, and each way in which things go wrong is drawn now and then.
func TestScenarios(t *testing.T) {
	hows, withdrawn := map[string]int{}, 0
	for seed := range uint64(500) {
		s := chaos.Plan(seed, chaos.Small())
		for _, f := range s.Faults {
			hows[f.How]++
			if f.At < 0 || f.Until <= f.At || f.Until > s.Shape.Span {
				t.Fatalf("seed %d: %+v is not over when %v are", seed, f, s.Shape.Span)
			}
		}
		for i := range s.Tasks {
			if at := s.Tasks[i].Withdrawn; at != 0 {
				if withdrawn++; at <= s.Tasks[i].At {
					t.Fatalf("seed %d: %+v is withdrawn before it is submitted", seed, s.Tasks[i])
				}
			}
			for _, w := range s.Workers {
				if task := &s.Tasks[i]; task.Cores > w.Cores || task.Memory > w.Memory || task.At > s.Shape.Span {
					t.Fatalf("seed %d: %+v cannot run on %+v", seed, task, w)
				}
			}
		}
	}
	if tasks := 500 * chaos.Small().Tasks; withdrawn < tasks/50 || withdrawn > tasks/10 {
		t.Errorf("%d of %d tasks are withdrawn: want a few", withdrawn, tasks)
	}
	for _, how := range []string{sim.Dies, sim.Stalls, sim.Refuses, sim.Deaf, sim.Mute, sim.Slow, sim.Restarts, sim.Upgrades, sim.Clock,
		sim.Full, sim.Parts, sim.Drops, sim.Duplicates} {
		if hows[how] < 10 {
			t.Errorf("%q happens %d times in 500 scenarios", how, hows[how])
		}
	}
}

// A scenario that fails is shown with the faults that it takes, and no others.
func TestShrink(t *testing.T) {
	s := chaos.Plan(3, chaos.Small())
	needed := []sim.Fault{s.Faults[0], s.Faults[len(s.Faults)-1]}
	got := chaos.Shrink(s, func(s chaos.Scenario) bool {
		return !slices.ContainsFunc(needed, func(f sim.Fault) bool {
			return !slices.ContainsFunc(s.Faults, func(o sim.Fault) bool { return reflect.DeepEqual(f, o) })
		})
	})
	if !reflect.DeepEqual(got.Faults, needed) {
		t.Errorf("%+v is left, want %+v", got.Faults, needed)
	}
}
