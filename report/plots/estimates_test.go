package plots

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"dodoor/report/group"
	"dodoor/report/reporttest"
	"dodoor/report/results"
)

func plotNamed(plots []Plot, name string) *Plot {
	for i := range plots {
		if plots[i].Name == name {
			return &plots[i]
		}
	}
	return nil
}

// A policy whose estimates were wrong brings the figures, and all policies are in them.
func TestFiguresOfEstimates(t *testing.T) {
	dir := t.TempDir()
	reporttest.Fixture{Policy: "dodoor", QPS: 10, Tasks: 700, Estimate: 1}.Write(t, dir)
	reporttest.Fixture{Policy: "pot", QPS: 10, Tasks: 700, Estimate: 0.8}.Write(t, dir)
	groups := load(t, dir)
	plots := Of(&groups[0])
	if len(plots) != 5+8+2 || EstimateNote(&groups[0]) != "" {
		t.Errorf("%d figures, note %q", len(plots), EstimateNote(&groups[0]))
	}
	scatter := plotNamed(plots, "estimates-qps10")
	if scatter == nil || len(scatter.Figure.Panels) != 2 || !strings.Contains(scatter.Caption, "at most 256") {
		t.Fatalf("%+v", scatter)
	}
	for i, panel := range scatter.Figure.Panels {
		if len(panel.Series) != 2 || panel.Series[0].Label != "linpack" || panel.Series[1].Label != "matmul" || panel.Series[1].Style != 1 {
			t.Errorf("panel %d: %+v", i, panel)
		}
		for k, run := range panel.Series[0].Y {
			if share := run / panel.Series[0].X[k]; math.Abs(share-[]float64{1, 1.25}[i]) > 0.01 {
				t.Fatalf("panel %d: a run of %g estimates", i, share)
			}
		}
	}
	errors := plotNamed(plots, "estimate-error-qps10")
	if errors == nil || len(errors.Figure.Panels[0].Series) != 2 {
		t.Fatalf("%+v", errors)
	}
	if x := errors.Figure.Panels[0].Series[1].X; math.Abs(x[len(x)/2]-25) > 0.5 {
		t.Errorf("the median error of pot is %g %%, want 25", x[len(x)/2])
	}
}

func TestSpread(t *testing.T) {
	lines := []SpreadLine{{"linpack", []float64{1, 1.1, 0.9}}, {"matmul", []float64{30}}, {"linpack", []float64{5, 5}}}
	var first, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&first, &again} {
		if err := DrawSpread(w, "Run times on class half", lines); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(first.Bytes(), again.Bytes()) {
		t.Error("two drawings differ")
	}
	for _, want := range []string{">Run times on class half<", ">linpack<", ">matmul<", ">mean run time (s)<"} {
		if strings.Count(first.String(), want) != 1 {
			t.Errorf("%q stands there %d times", want, strings.Count(first.String(), want))
		}
	}
	if err := DrawSpread(&first, "", nil); err == nil {
		t.Error("a picture of nothing")
	}
}

func load(t *testing.T, dir string) []group.Group {
	t.Helper()
	runs, _, err := results.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return group.Of(runs)
}

// A policy without a view has no view age; if no policy has one, there is no such figure.
func TestMissingQuantitiesAreLeftOut(t *testing.T) {
	dir := reporttest.Campaign(t)
	for _, p := range Of(&load(t, dir)[0]) {
		if !strings.HasPrefix(p.Name, "view-age") {
			continue
		}
		for _, s := range p.Figure.Panels[0].Series {
			if strings.HasPrefix(s.Label, "random") {
				t.Errorf("%s shows random, which has no view", p.Name)
			}
		}
	}
	alone := t.TempDir()
	reporttest.Fixture{Policy: "random", QPS: 10, Tasks: 50, NoView: true}.Write(t, alone)
	plots := Of(&load(t, alone)[0])
	if len(plots) != 5+7 || slices.ContainsFunc(plots, func(p Plot) bool { return strings.HasPrefix(p.Name, "view-age") }) {
		t.Errorf("%d figures, one of them of a view age that nobody has", len(plots))
	}
}

// A figure by load has a label for its axis.
func TestAxesHaveLabels(t *testing.T) {
	for _, p := range byQPS {
		if p.Axis == "" {
			t.Errorf("the plot %s has no label for its axis", p.file)
		}
	}
}
