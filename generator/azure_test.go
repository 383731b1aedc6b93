package generator

import (
	"math"
	"slices"
	"testing"

	"dodoor/internal/cluster"
)

func azureTrace(t *testing.T, n int) []Request {
	t.Helper()
	q, err := Azure(n, 1)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestAzureMatchesItsTable(t *testing.T) {
	const n = 40000
	q := azureTrace(t, n)
	counts := map[cluster.Resources]int{}
	for i := range q {
		counts[q[i].Demand]++
		if q[i].Type != "simulated" || q[i].Mode != "medium" || q[i].Duration >= 600000 {
			t.Fatalf("request %+v", q[i])
		}
	}
	total := 0
	for _, s := range azureShapes {
		total += s.count
		want := float64(n) * float64(s.count) / 4000
		got := float64(counts[cluster.Resources{s.millicores, s.memoryMB, s.diskMB}])
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("shape %+v: %.0f of %d, want about %.0f", s, got, n, want)
		}
	}
	if total != 4000 {
		t.Errorf("the table counts %d requests", total)
	}
	for k := range 20 {
		atMost := 0.0
		for i := range q {
			if q[i].Demand[cluster.Cores] == 2000 && float64(q[i].Duration)/1000 <= twoCoreLife[k] {
				atMost++
			}
		}
		if share := atMost / (0.771 * n); math.Abs(share-float64(k)/20) > 0.015 {
			t.Errorf("%.3f of the two-core requests last at most %.1f s, want %.2f", share, twoCoreLife[k], float64(k)/20)
		}
	}
}

// Published: 2.27 M core-seconds in 4,000 requests, mean duration 250 s, 77 % two cores, 13 % four,
// 8 % one.
func TestAzureMatchesThePublishedFacts(t *testing.T) {
	const n = 40000
	s := Describe(azureTrace(t, n))
	if got := s.CoreSeconds / n * 4000; math.Abs(got-2.27e6) > 0.03e6 {
		t.Errorf("%.4g core-seconds in 4,000 requests, want 2.27e6", got)
	}
	if got := s.MeanDuration.Seconds(); math.Abs(got-250) > 3 {
		t.Errorf("mean duration %.1f s, want 250", got)
	}
	want := map[string]float64{"2": .77, "4": .13, "1": .08}
	for _, c := range s.Cores {
		if w, ok := want[c.Name]; ok && math.Abs(float64(c.Count)/n-w) > 0.01 {
			t.Errorf("%s cores: %.3f, want %.2f", c.Name, float64(c.Count)/n, w)
		}
	}
}

// Kolmogorov-Smirnov distance to the real trace, for what placement depends on.
func TestAzureResemblesTheRealTrace(t *testing.T) {
	real, synthetic := referenceTrace(t, "azure_vm_600s.csv")[:4000], azureTrace(t, 40000)
	for name, of := range map[string]func(*Request) float64{
		"cores":        func(q *Request) float64 { return float64(q.Demand[cluster.Cores]) },
		"memory":       func(q *Request) float64 { return float64(q.Demand[cluster.Memory]) },
		"disk":         func(q *Request) float64 { return float64(q.Demand[cluster.Disk]) },
		"duration":     func(q *Request) float64 { return float64(q.Duration) },
		"core-seconds": func(q *Request) float64 { return float64(q.Duration * q.Demand[cluster.Cores]) },
	} {
		if d := ksDistance(real, synthetic, of); d > 0.03 {
			t.Errorf("%s: the distributions are %.3f apart", name, d)
		}
	}
}

func ksDistance(a, b []Request, of func(*Request) float64) float64 {
	values := func(q []Request) []float64 {
		v := make([]float64, len(q))
		for i := range q {
			v[i] = of(&q[i])
		}
		slices.Sort(v)
		return v
	}
	x, y := values(a), values(b)
	worst := 0.0
	for _, at := range slices.Concat(x, y) {
		below := func(v []float64) float64 {
			n, _ := slices.BinarySearch(v, math.Nextafter(at, math.Inf(1)))
			return float64(n) / float64(len(v))
		}
		worst = max(worst, math.Abs(below(x)-below(y)))
	}
	return worst
}
