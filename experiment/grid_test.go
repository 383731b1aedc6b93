package experiment

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/conf"
	"dodoor/internal/runfiles"
	"dodoor/report/metrics"
)

// gridOf lists and resumes the runs of some policies at two rates.
func gridOf(t *testing.T, base Setting, policies ...string) (*Grid, error) {
	t.Helper()
	g, err := NewGrid(base, policies, []float64{20, 40}, []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	return g, g.Resume()
}

// ran runs a grid and returns its summaries and what it said.
func ran(t *testing.T, ctx context.Context, g *Grid) ([]*metrics.Summary, string) {
	t.Helper()
	var said strings.Builder
	if err := g.Run(ctx, &said); err != nil {
		t.Fatal(err)
	}
	runs, err := g.Summaries()
	if err != nil {
		t.Fatal(err)
	}
	return runs, said.String()
}

// Four policies × two rates: every run complete, and control messages per task exactly random 1, pot 3,
// prequal 1 + r_probe = 4, dodoor by the formula. A run that has ended is not run again.
func TestGrid(t *testing.T) {
	want := map[string]float64{"dodoor": 1.175, "pot": 3, "prequal": 4, "random": 1}
	c := configOf(t, "paper", "generator.trace=functionbench", "generator.n=200", "generator.warmup=50", "rpc.coalesce=false")
	for _, on := range []string{OnLocal, OnSim} {
		base := setting(t, c, on)
		_, err := inMemory(t, base, func(ctx context.Context, s Setting) (Result, error) {
			g, err := gridOf(t, s, "dodoor", "pot", "prequal", "random")
			if err != nil {
				return Result{}, err
			}
			runs, said := ran(t, ctx, g)
			if len(runs) != 8 || !strings.Contains(said, "run 8 of 8: random-qps40-seed1\n") {
				t.Errorf("%d runs: %s", len(runs), said)
			}
			for i, r := range runs {
				if r.Completed != 200 || r.ControlMessagesPerTask != want[r.Policy] || r.On != on || r.QPS != []float64{20, 40}[i/4] {
					t.Errorf("%s at %g on %s: %d completed, %v control messages per task, want %v", r.Policy, r.QPS, r.On, r.Completed,
						r.ControlMessagesPerTask, want[r.Policy])
				}
			}
			return Result{}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
		g, err := gridOf(t, base, "dodoor", "pot", "prequal", "random")
		if err != nil {
			t.Fatal(err)
		}
		if runs, said := ran(t, t.Context(), g); len(runs) != 8 || said != "" {
			t.Errorf("the second time: %d runs, %s", len(runs), said)
		}
	}
}

// What has run elsewhere, or with other settings, is not taken for what is asked for; where rows go and what is
// logged are no such settings. A run that was cut off is cleared away and run again.
func TestResume(t *testing.T) {
	c := configOf(t, "paper", "generator.trace=functionbench", "generator.n=50", "generator.warmup=0")
	base := setting(t, c, OnSim)
	g, err := gridOf(t, base, "random")
	if err != nil {
		t.Fatal(err)
	}
	ran(t, t.Context(), g)
	for want, change := range map[string]func(s *Setting, c *conf.Config){
		"was run with another score.alpha: choose another -out": func(_ *Setting, c *conf.Config) {
			c.Policies = configOf(t, "paper", "score.alpha=0.3").Policies
		},
		"was run with another generator.n": func(_ *Setting, c *conf.Config) { c.Generator.N = 60 },
		"was run on sim":                   func(s *Setting, _ *conf.Config) { s.On = OnLocal },
		"":                                 func(_ *Setting, c *conf.Config) { c.Generator.Out, c.Log.Level = "elsewhere", "debug" },
	} {
		s, own := base, *c
		change(&s, &own)
		s.Conf = &own
		_, err := gridOf(t, s, "random")
		if want == "" && err != nil || want != "" && (!Refused(err) || !strings.Contains(err.Error(), want)) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	path := filepath.Join(base.Dir, "random-qps20-seed1", runfiles.Run)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var info map[string]any
	if err := json.Unmarshal(text, &info); err != nil {
		t.Fatal(err)
	}
	info["ended"] = nil
	if text, err = json.Marshal(info); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if g, err = gridOf(t, base, "random"); err != nil {
		t.Fatal(err)
	}
	if runs, said := ran(t, t.Context(), g); len(runs) != 2 || said != "run 1 of 2: random-qps20-seed1\n" {
		t.Errorf("%d runs after a cut: %s", len(runs), said)
	}
}

// A run that fails ends no other; what failed is said, and Refused only if nothing ran at all.
func TestSummariesOfFailures(t *testing.T) {
	c := configOf(t, "paper", "generator.trace=/nowhere.csv", "generator.n=50", "generator.warmup=0")
	g, err := NewGrid(setting(t, c, OnSim), []string{"random", "oracle"}, []float64{5}, []uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Run(t.Context(), &strings.Builder{}); err != nil {
		t.Fatal(err)
	}
	runs, err := g.Summaries()
	if len(runs) != 0 || !Refused(err) || strings.Count(err.Error(), "no such file") != 4 {
		t.Errorf("%d runs, %v", len(runs), err)
	}
	if _, err := NewGrid(setting(t, c, OnLocal), []string{"oracle"}, []float64{5}, []uint64{1}); !Refused(err) ||
		!strings.Contains(err.Error(), "simulator alone") {
		t.Errorf("got %v", err)
	}
	if _, err := NewGrid(setting(t, c, OnSim), []string{"pot", "pot"}, []float64{5}, []uint64{1}); !Refused(err) ||
		!strings.Contains(err.Error(), "would run twice") {
		t.Errorf("got %v", err)
	}
}
