package generator

import (
	"math"
	"reflect"
	"testing"

	"dodoor/internal/cluster"
)

// profile gives every type and mode figures of its own, so that a mix-up shows.
func profile() []cluster.TaskType {
	var types []cluster.TaskType
	for i, name := range FunctionBenchTypes {
		t := cluster.TaskType{Name: name}
		for j, mode := range []string{"short", "medium", "long"} {
			t.Modes = append(t.Modes, cluster.Mode{Name: mode, PerClass: map[string]cluster.Shape{
				ReferenceClass: {Demand: cluster.Resources{int64(i+1) * 1000, int64(j + 1)}, Duration: int64(100*i + j)},
				"m510":         {Demand: cluster.Resources{1, 1}, Duration: 1},
			}})
		}
		types = append(types, t)
	}
	return types
}

// Sec. 5: "uniform over 8 types", short mode; the columns are the reference class's figures.
func TestFunctionBenchIsUniform(t *testing.T) {
	const n = 40000
	q, err := FunctionBench(profile(), ReferenceClass, ShortOnly, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for i := range q {
		counts[q[i].Type]++
		index := q[i].Demand[cluster.Cores]/1000 - 1
		if q[i].Mode != "short" || FunctionBenchTypes[index] != q[i].Type || q[i].Duration != 100*index || q[i].Demand[cluster.Memory] != 1 {
			t.Fatalf("request %+v does not have its type's short figures", q[i])
		}
	}
	for name, c := range counts {
		if math.Abs(float64(c)-n/8) > 5*math.Sqrt(n/8) {
			t.Errorf("%s: %d of %d", name, c, n)
		}
	}
	if len(counts) != 8 {
		t.Errorf("%d types", len(counts))
	}
	if rate := float64(n) / q[n-1].Start.Seconds(); math.Abs(rate-syntheticQPS) > 0.2 {
		t.Errorf("start times run at %.2f/s", rate)
	}
}

func TestFunctionBenchModes(t *testing.T) {
	const n = 40000
	q, err := FunctionBench(profile(), ReferenceClass, ShortMediumLong, n, 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]float64{}
	for i := range q {
		counts[q[i].Mode] += 1.0 / n
	}
	for mode, want := range map[string]float64{"short": .6, "medium": .3, "long": .1} {
		if math.Abs(counts[mode]-want) > 0.01 {
			t.Errorf("%s: %.3f, want %.1f", mode, counts[mode], want)
		}
	}
}

func TestSyntheticTracesAreSeeded(t *testing.T) {
	make := func(seed uint64) [2][]Request {
		fb, err := FunctionBench(profile(), ReferenceClass, ShortMediumLong, 200, seed)
		if err != nil {
			t.Fatal(err)
		}
		azure, err := Azure(200, seed)
		if err != nil {
			t.Fatal(err)
		}
		return [2][]Request{fb, azure}
	}
	one, again, two := make(1), make(1), make(2)
	if !reflect.DeepEqual(one, again) {
		t.Error("the same seed gives another trace")
	}
	if reflect.DeepEqual(one[0], two[0]) || reflect.DeepEqual(one[1], two[1]) {
		t.Error("another seed gives the same trace")
	}
}

func TestFunctionBenchRefusals(t *testing.T) {
	for want, c := range map[string]struct {
		types []cluster.TaskType
		class string
		mix   Mix
		n     int
	}{
		"number of requests is 0":                     {profile(), ReferenceClass, ShortOnly, 0},
		`task type "rnn_name_generation" is not conf`: {profile()[:7], ReferenceClass, ShortOnly, 1},
		`no figures for node class "vax"`:             {profile(), "vax", ShortOnly, 1},
		`has no mode "huge"`:                          {profile(), ReferenceClass, Mix{{"huge", 1}}, 1},
		`mode "short" has weight 0`:                   {profile(), ReferenceClass, Mix{{"short", 0}}, 1},
		`mode "short" has weight NaN`:                 {profile(), ReferenceClass, Mix{{"short", math.NaN()}}, 1},
		"the mix has no modes":                        {profile(), ReferenceClass, nil, 1},
	} {
		_, err := FunctionBench(c.types, c.class, c.mix, c.n, 1)
		wantError(t, err, want)
	}
}

func TestParseMix(t *testing.T) {
	for text, want := range map[string]Mix{
		"short":    {{"short", 1}},
		"60/30/10": {{"short", 60e6}, {"medium", 30e6}, {"long", 10e6}},
		"0/0.5/0":  {{"medium", 0.5e6}},
	} {
		if got, err := ParseMix(text); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"": "write short", "long": "write short", "1/2": "write short", "1/2/3/4": "write short",
		"1/x/1": `the share of medium is "x"`, "1/1/-1": `the share of long is "-1"`, "NaN/1/1": `the share of short is "NaN"`,
		"0/0/0": "at least one share",
	} {
		_, err := ParseMix(text)
		wantError(t, err, want)
	}
}

func FuzzParseMix(f *testing.F) {
	f.Add("60/30/10")
	f.Fuzz(func(t *testing.T, s string) {
		mix, err := ParseMix(s)
		if err != nil {
			return
		}
		if _, err := FunctionBench(profile(), ReferenceClass, mix, 3, 1); err != nil {
			t.Errorf("mix %q is accepted and of no use: %v", s, err)
		}
	})
}
