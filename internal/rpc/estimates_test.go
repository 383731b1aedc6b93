package rpc

import (
	"context"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// Generators of what is learned.
var (
	stamps    = rapid.Int64Range(0, cluster.MaxStamp)
	durations = rapid.Int64Range(0, cluster.MaxDuration)
)

var experiences = rapid.Custom(func(t *rapid.T) cluster.Experience {
	x := cluster.Experience{Scheduler: names.Draw(t, "scheduler"), Incarnation: positive.Draw(t, "incarnation"), Name: names.Draw(t, "name"),
		Class: names.Draw(t, "class"), Number: rapid.Int64Range(1, cluster.MaxStamp).Draw(t, "number"), Count: stamps.Draw(t, "count"),
		Off: rapid.Int64Range(0, cluster.MaxMiss).Draw(t, "off"), Cores: amounts.Draw(t, "cores"), Memory: amounts.Draw(t, "memory")}
	x.Name = x.Name[:min(len(x.Name), cluster.MaxLearned)]
	x.Name = strings.ToValidUTF8(x.Name, "")
	if x.SteadyRuns = rapid.Int64Range(0, cluster.MaxSteady).Draw(t, "steady runs"); x.SteadyRuns > 0 {
		x.SteadyLog = rapid.Int64Range(0, cluster.MaxLog).Draw(t, "steady log")
	}
	at := stamps.Draw(t, "stamp")
	for range rapid.IntRange(0, cluster.MaxRuns).Draw(t, "runs") {
		x.Runs = append(x.Runs, cluster.Run{Took: rapid.Int64Range(1, cluster.MaxDuration).Draw(t, "took"), At: at})
		at = rapid.Int64Range(0, at).Draw(t, "earlier")
	}
	return x
})

var estimates = rapid.Custom(func(t *rapid.T) cluster.Estimate {
	x := experiences.Draw(t, "seen")
	return cluster.Estimate{Name: x.Name, Class: x.Class, Duration: durations.Draw(t, "duration"),
		Rule:  cluster.EstimateRule(rapid.IntRange(1, int(cluster.DefaultRule)).Draw(t, "rule")),
		Count: counts.Draw(t, "count"), Median: durations.Draw(t, "median"), P95: durations.Draw(t, "p95"), Off: x.Off, Cores: x.Cores,
		Memory: x.Memory}
})

func TestEstimatesRoundTrip(t *testing.T) {
	h := &fakeScheduler{}
	_, _, cfg := inMemory(t, SchedulerService(h, dims), quiet())
	c := schedulerClient(t, "memory:1", cfg)
	rapid.Check(t, func(t *rapid.T) {
		sent := cluster.EstimateQuery{Name: maybe.Draw(t, "name"), Max: rapid.IntRange(0, cluster.MaxEstimate).Draw(t, "max")}
		answer := listOf(estimates).Draw(t, "estimates")
		h.estimate = func(_ context.Context, got cluster.EstimateQuery) ([]cluster.Estimate, error) {
			same(t, "request", got, sent)
			return answer, nil
		}
		got, err := c.Estimates(background, sent)
		same(t, "error", err, nil)
		same(t, "reply", got, answer)
	})
}

// What a scheduler says that it has seen is within bounds, or the delta is refused: nothing may poison what others learn.
func TestExperienceOnArrival(t *testing.T) {
	for want, spoil := range map[string]func(w *dodoor.Experience){
		"":                                       func(w *dodoor.Experience) {},
		"experience[0].name is missing":          func(w *dodoor.Experience) { w.Name = nil },
		"experience[0].name has 65 bytes":        func(w *dodoor.Experience) { w.Name = ptr(strings.Repeat("x", cluster.MaxLearned+1)) },
		"experience[0].name has a control":       func(w *dodoor.Experience) { w.Name = ptr("a\nb") },
		"experience[0].node_class is missing":    func(w *dodoor.Experience) { w.NodeClass = nil },
		"experience[0].number is 0":              func(w *dodoor.Experience) { w.Number = ptr(int64(0)) },
		"experience[0].count is -1":              func(w *dodoor.Experience) { w.Count = ptr(int64(-1)) },
		"experience[0].off_permille is -1":       func(w *dodoor.Experience) { w.OffPermille = ptr(int64(-1)) },
		"experience[0].millicores is -1":         func(w *dodoor.Experience) { w.Millicores = ptr(int64(-1)) },
		"experience[0].memory_mib is 1152921504": func(w *dodoor.Experience) { w.MemoryMib = ptr(int64(1) << 60) },
		"experience[0].runs_ms has 9 entries":    func(w *dodoor.Experience) { w.RunsMs = make([]int64, 9) },
		"experience[0].runs_ms is 0":             func(w *dodoor.Experience) { w.RunsMs[1] = 0 },
		"experience[0].runs_ms is -5":            func(w *dodoor.Experience) { w.RunsMs[0] = -5 },
		"experience[0].runs_ms is 31536000001":   func(w *dodoor.Experience) { w.RunsMs[0] = cluster.MaxDuration + 1 },
		"experience[0].stamps has 3 entries":     func(w *dodoor.Experience) { w.Stamps = make([]int64, 3) },
		"experience[0].stamps is -1":             func(w *dodoor.Experience) { w.Stamps[1] = -1 },
		"experience[0].stamps is 101":            func(w *dodoor.Experience) { w.Stamps[1] = 101 },
		"experience[0].steady_runs is 0":         func(w *dodoor.Experience) { w.SteadyRuns = ptr(int32(0)) },
		"experience[0].steady_runs is 65":        func(w *dodoor.Experience) { w.SteadyRuns = ptr(int32(cluster.MaxSteady + 1)) },
		"experience[0].steady_log is missing":    func(w *dodoor.Experience) { w.SteadyLog = nil },
		"experience[0].steady_log is -1":         func(w *dodoor.Experience) { w.SteadyLog = ptr(int32(-1)) },
		"experience[0].steady_log is 25001":      func(w *dodoor.Experience) { w.SteadyLog = ptr(int32(cluster.MaxLog + 1)) },
	} {
		w := &dodoor.Experience{Name: ptr("k"), NodeClass: ptr("a"), Number: ptr(int64(1)), Count: ptr(int64(2)), RunsMs: []int64{5, 6},
			Stamps: []int64{100, 30}, OffPermille: ptr(int64(0)), SteadyLog: ptr(int32(5)), SteadyRuns: ptr(int32(1))}
		spoil(w)
		d := decoder{dims: dims}
		seen := d.experience([]*dodoor.Experience{w}, false)
		switch {
		case want == "" && (d.err != nil || seen[0].Runs[1] != cluster.Run{Took: 6, At: 70}):
			t.Errorf("%+v, %v", seen, d.err)
		case want != "" && (d.err == nil || !strings.HasPrefix(d.err.Error(), want)):
			t.Errorf("got %v, want %q", d.err, want)
		}
	}
}

// An entry is small: most of what a delta carries of it is its run times.
func TestExperienceIsSmall(t *testing.T) {
	x := cluster.Experience{Name: "matmul/short", Class: "c6525-25g", Number: 100_000, Count: 50_000, Off: 250, SteadyLog: 9421,
		SteadyRuns: 64}
	for i := range int64(cluster.MaxRuns) {
		x.Runs = append(x.Runs, cluster.Run{Took: 12_345, At: 1_000_000 - 100*i})
	}
	buffer, protocol := memoryProtocol(nil)
	if err := (encoder{dims}.experience([]cluster.Experience{x}, false))[0].Write(background, protocol); err != nil {
		t.Fatal(err)
	}
	if n := buffer.Len(); n > 100 {
		t.Errorf("an entry takes %d bytes", n)
	}
}

func FuzzDecodeEstimates(f *testing.F) {
	type both struct{ list []cluster.Estimate }
	seed := encoder{dims}.estimates([]cluster.Estimate{{Name: "k", Class: "a", Duration: 5, Rule: cluster.LearnedRule, Count: 1, Median: 5,
		P95: 6, Off: 7, Cores: 50, Memory: 16}})[0]
	decode := func(d *decoder, w *dodoor.Estimate) both { return both{d.estimates([]*dodoor.Estimate{w})} }
	fuzzDecode(f, seed, dodoor.NewEstimate, decode, func(b *both) *dodoor.Estimate { return encoder{dims}.estimates(b.list)[0] })
}

func FuzzDecodeExperience(f *testing.F) {
	type both struct{ list []cluster.Experience }
	seed := encoder{dims}.experience([]cluster.Experience{{Scheduler: "s1", Incarnation: 1, Name: "k", Class: "a", Number: 1, Count: 1,
		Runs: []cluster.Run{{Took: 5, At: 9}, {Took: 6, At: 2}}, Cores: 50, Memory: 16}}, true)[0]
	decode := func(d *decoder, w *dodoor.Experience) both { return both{d.experience([]*dodoor.Experience{w}, true)} }
	fuzzDecode(f, seed, dodoor.NewExperience, decode,
		func(b *both) *dodoor.Experience { return encoder{dims}.experience(b.list, true)[0] })
}
