package campaign

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"go.uber.org/goleak"

	"dodoor/conf"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// Settings that come to the same configuration are run once, however they are written.
func TestSameSettingsRunOnce(t *testing.T) {
	o := Options{Seeds: 3}
	plain := functions(o, "dodoor", 100, studyTasks)
	studies := []Study{
		{Name: "a", Extra: []Cell{plain, plain.with("datastore.b=100"), plain.with("score.alpha=0.5", "sim.skew=0.0")}},
		{Name: "b", Extra: []Cell{plain, plain.with("datastore.b=50")}},
	}
	p, err := NewPlan(studies, o)
	if err != nil {
		t.Fatal(err)
	}
	if p.Runs() != 6 {
		t.Errorf("%d runs; want 3 seeds of 2 settings", p.Runs())
	}
	r := ran(t, p, 2)
	for i, outcome := range r.of(plain) {
		if outcome != r.of(plain.with("datastore.b=100"))[i] {
			t.Errorf("seed %d has two outcomes", i+1)
		}
		if got := outcome.Summary.Seed; got != uint64(i+1) {
			t.Errorf("outcome %d is of seed %d", i, got)
		}
	}
	if got := strings.Join(p.cells[0].studies, " "); got != "a b" {
		t.Errorf("the shared setting belongs to %q", got)
	}
}

func TestFewerSeedsWhereRunsAreLong(t *testing.T) {
	c := functions(Options{}, "dodoor", 100, studyTasks)
	c.Seeds = 1
	p, err := NewPlan([]Study{{Name: "a", Extra: []Cell{c}}}, Options{Seeds: 5})
	if err != nil || p.Runs() != 1 {
		t.Errorf("%d runs, %v", p.Runs(), err)
	}
}

func TestWhatCannotBePlanned(t *testing.T) {
	for want, o := range map[string]Options{
		"0 seeds":             {},
		"no study is called ": {Seeds: 1, Only: []string{"rerun", "rerum"}},
	} {
		if _, err := Studies(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	bad := functions(Options{}, "dodoor", 100, studyTasks).with("datastore.b=0")
	if _, err := NewPlan([]Study{{Extra: []Cell{bad}}}, Options{Seeds: 1}); err == nil || !strings.Contains(err.Error(), "datastore.b") {
		t.Errorf("got %v", err)
	}
}

// The first error ends the campaign, whoever waits for whom.
func TestFirstErrorEndsIt(t *testing.T) {
	o := Options{Seeds: 6}
	large := functions(o, "dodoor", 100, studyTasks)
	large.Large = true
	p, err := NewPlan([]Study{{Name: "a", Extra: []Cell{large}}}, o)
	if err != nil {
		t.Fatal(err)
	}
	var calls atomic.Int32
	broken := errors.New("broken")
	_, err = p.Run(t.Context(), func(context.Context, *conf.Config) (Outcome, error) {
		calls.Add(1)
		return Outcome{}, broken
	}, 4, nil)
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "study a, policy dodoor, seed ") || calls.Load() != 1 {
		t.Errorf("got %v after %d runs", err, calls.Load())
	}
}

func TestStoppedFromOutside(t *testing.T) {
	p := planOf(t, Options{Seeds: 1, Quick: true, Only: []string{"batch"}})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := p.Run(ctx, func(ctx context.Context, c *conf.Config) (Outcome, error) {
		cancel()
		return invented(ctx, c)
	}, 2, nil)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
