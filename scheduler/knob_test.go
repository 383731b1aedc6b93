package scheduler

import (
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Every policy of this package can be built with its defaults, and from settings that name its table.
func TestPoliciesAreBuilt(t *testing.T) {
	for _, spec := range []Spec{PaperPolicy, PlusPolicy, PartitionPolicy, ECTPolicy} {
		if p, err := spec.Build(nil, 1); err != nil || p == nil {
			t.Errorf("%s: %v, %v", spec.Name, p, err)
		}
	}
	given := DefaultPlus()
	given.Foreign = 7
	p, err := PlusPolicy.Build(Settings{DefaultScore(), given}, 1)
	if err != nil || p.(*DodoorPlus).knobs.Foreign != 7 {
		t.Errorf("%+v, %v: want 7 foreign nodes, as set", p, err)
	}
	if given.Home, given.Foreign = false, 0; true {
		if _, err := PlusPolicy.Build(Settings{given}, 1); err == nil || !strings.Contains(err.Error(), "dodoor_plus.foreign must be between 1") {
			t.Errorf("%v: without homes and foreign nodes nothing would be compared", err)
		}
	}
}

// patient is a policy's knobs with a time among them.
type patient struct {
	Wait  time.Duration
	Count int
}

func (k *patient) Table() Table {
	return Table{Name: "patient", Knobs: []Knob{{Key: "wait", Value: &k.Wait}, {Key: "count", Value: &k.Count, Range: Range{High: 9}}}}
}

// Times are trace time: a cluster that runs ten times as fast waits a tenth; numbers stay.
func TestTimesAreScaled(t *testing.T) {
	var got patient
	spec := Spec{Name: "patient", Knobs: func() Knobs { return &patient{Wait: time.Second, Count: 9} },
		New: func(k Knobs) Policy { got = *k.(*patient); return nil }}
	if _, err := spec.Build(nil, 10); err != nil || got.Wait != 100*time.Millisecond || got.Count != 9 {
		t.Errorf("%+v, %v: want a tenth of a second", got, err)
	}
}

// A range holds its ends, unless it says otherwise, and 0 where that means something.
func TestRanges(t *testing.T) {
	year := time.Duration(cluster.MaxDuration) * time.Millisecond
	closed, above, zero := Range{Low: 2, High: 4}, Range{Low: 2, High: 4, Above: true}, Range{Low: 2, High: 4, Zero: "off"}
	words := Range{Words: []string{"a", "b", "c"}}
	for _, c := range []struct {
		r     Range
		value any
		ok    bool
	}{
		{closed, 1.9, false}, {closed, 2.0, true}, {closed, 4.0, true}, {closed, 4.1, false}, {closed, 0, false}, {closed, 3, true},
		{above, 2.0, false}, {above, 2.1, true}, {above, 4.0, true}, {above, 4.1, false},
		{zero, 0, true}, {zero, 1, false}, {zero, 2, true}, {zero, 4, true}, {zero, 5, false},
		{words, "b", true}, {words, "d", false},
		{Range{}, time.Duration(0), false}, {Range{}, time.Millisecond - 1, false}, {Range{}, time.Millisecond, true}, {Range{}, year, true},
		{Range{}, year + 1, false}, {Range{Zero: "off"}, time.Duration(0), true}, {Range{Zero: "off"}, time.Duration(1), false},
		{Range{Zero: "off"}, time.Second, true}, {Range{}, true, true},
	} {
		if allowed, ok := c.r.holds(c.value); ok != c.ok {
			t.Errorf("%v (%T) in %+v: %v, want %v (allowed: %s)", c.value, c.value, c.r, ok, c.ok, allowed)
		}
	}
	if got := alternatives(words.Words); got != `"a", "b" or "c"` {
		t.Errorf("alternatives: %s", got)
	}
}

// A problem says what is allowed, what was found, and why, if there is a reason to give.
func TestProblemsOfKnobs(t *testing.T) {
	word, number := "d", 5
	for _, c := range []struct {
		knob Knob
		want string
	}{
		{Knob{Value: &word, Range: Range{Words: []string{"a", "b"}}}, `must be "a" or "b", found "d"`},
		{Knob{Value: &number, Range: Range{High: 4, Why: "too much"}}, "must be between 0 and 4, found 5: too much"},
		{Knob{Value: &number, Range: Range{High: 5}}, ""},
	} {
		if got := c.knob.Problem(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A submission without a profile is told what it lacks.
func TestMissingFiguresAreNamed(t *testing.T) {
	for _, c := range []struct {
		lacks  string
		change func(s *cluster.TaskSpec)
	}{
		{"its demand and duration", func(s *cluster.TaskSpec) { s.Demand, s.Duration = nil, nil }},
		{"its demand", func(s *cluster.TaskSpec) { s.Demand = nil }},
		{"its duration", func(s *cluster.TaskSpec) { s.Duration = nil }},
	} {
		s := request("a", 1, 1, 1)
		c.change(s)
		refusal := NewCatalog(testConfig().Types, time.Second).Resolve(s, &cluster.Kind{})
		if refusal == nil || refusal.Code != cluster.InvalidTask || !strings.HasSuffix(refusal.Message, "must bring "+c.lacks) {
			t.Errorf("%v: want it to say that the submission must bring %s", refusal, c.lacks)
		}
	}
}
