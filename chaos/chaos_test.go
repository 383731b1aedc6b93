package chaos_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"dodoor/chaos"
)

var (
	seeds  = flag.Int("seeds", 150, "how many seeds the simulator runs, each with journals and without")
	first  = flag.Uint64("first", 1, "the first of them")
	replay = flag.Uint64("seed", 0, "one seed alone; 0: all")
	brief  = flag.Bool("nemesis", false, "the scenarios that chaos/nemesis plays on real processes, seed by seed")
)

// Whatever goes wrong, none of the rules is broken.
func TestChaos(t *testing.T) {
	for _, journal := range []bool{true, false} {
		t.Run(fmt.Sprintf("journal=%v", journal), func(t *testing.T) {
			shapeOf := func(seed uint64) chaos.Shape {
				shape := chaos.Small()
				if *brief {
					shape = chaos.Brief(seed)
				}
				shape.Journal = journal
				return shape
			}
			if *replay != 0 {
				try(t, *replay, shapeOf(*replay))
				return
			}
			each(t, func(seed uint64) { try(t, seed, shapeOf(seed)) })
		})
	}
}

// each runs all seeds, as many at a time as there are processors, until one fails.
func each(t *testing.T, run func(seed uint64)) {
	var group sync.WaitGroup
	next := make(chan uint64)
	for range runtime.GOMAXPROCS(0) {
		group.Go(func() {
			for seed := range next {
				run(seed)
			}
		})
	}
	for i := range uint64(*seeds) {
		if t.Failed() {
			break
		}
		next <- *first + i
	}
	close(next)
	group.Wait()
}

// try runs one seed. A failure is shown with no more faults than it takes, and its history is kept.
func try(t *testing.T, seed uint64, shape chaos.Shape) {
	scenario := chaos.Plan(seed, shape)
	if len(violations(t, scenario)) == 0 {
		return
	}
	scenario = chaos.Shrink(scenario, func(s chaos.Scenario) bool { return len(violations(t, s)) > 0 })
	history, err := chaos.Simulate(scenario)
	if err != nil {
		t.Error(err)
		return
	}
	found := chaos.Check(history)
	t.Errorf("seed %d, journal %v breaks %d rules; replay: go test ./chaos -run 'TestChaos/journal=%v' -seed %d -nemesis=%v\n%s  history: %s",
		seed, shape.Journal, len(found), shape.Journal, seed, *brief, shown(found, history), keep(t, seed, history))
}

// violations are what a scenario leads to.
func violations(t *testing.T, s chaos.Scenario) []chaos.Violation {
	history, err := chaos.Simulate(s)
	if err != nil {
		t.Error(err)
		return nil
	}
	return chaos.Check(history)
}

// keep writes a history into a file, and returns where it is.
func keep(t *testing.T, seed uint64, history chaos.History) string {
	file, err := os.CreateTemp("", fmt.Sprintf("chaos-%d-*.jsonl", seed))
	if err != nil {
		return err.Error()
	}
	defer file.Close()
	if err := history.Write(file); err != nil {
		t.Error(err)
	}
	return file.Name()
}

// shown is a failure, for people: the first violations, what went wrong, and what happened to the first task.
func shown(found []chaos.Violation, history chaos.History) string {
	var b strings.Builder
	for _, v := range found[:min(len(found), 5)] {
		fmt.Fprintf(&b, "  %v\n", v)
	}
	s := history.Scenario()
	fmt.Fprintf(&b, "  policy %s, %d schedulers, %d workers, clients %+v\n", s.Policy, s.Schedulers, len(s.Workers), s.Clients)
	lines := json.NewEncoder(&b)
	for i := range s.Faults {
		b.WriteString("  ")
		lines.Encode(&s.Faults[i])
	}
	if i := slices.IndexFunc(found, func(v chaos.Violation) bool { return v.Task != "" }); i >= 0 {
		for _, r := range history.About(found[i].Task) {
			if r.Answer != chaos.Refused {
				b.WriteString("  ")
				lines.Encode(&r)
			}
		}
	}
	return b.String()
}
