package worker

import (
	"math"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// An exact emulation lasts its estimate divided by the time scale; no estimate is too long to be a time.
func TestExactEmulation(t *testing.T) {
	for _, c := range []struct {
		estimate int64 // ms
		scale    float64
		want     time.Duration
	}{{1000, 1, time.Second}, {1000, 10, 100 * time.Millisecond}, {0, 1, 0}, {math.MaxInt64, 1, math.MaxInt64/2 + 1}} {
		got := Emulation{}.Duration(&Start{Shape: cluster.Shape{Duration: c.estimate}, TimeScale: c.scale, Seed: 3})
		if got != c.want {
			t.Errorf("%d ms at time scale %v: %v, want %v", c.estimate, c.scale, got, c.want)
		}
	}
}

// A noisy one lasts that times a lognormal factor of mean 1: its logarithm has mean -σ²/2 and deviation σ. The same
// task of the same run lasts as long every time.
func TestNoisyEmulation(t *testing.T) {
	const n, sigma = 20_000, 0.5
	e := Emulation{Sigma: sigma, Seed: 1}
	var sum, squares float64
	for task := range uint64(n) {
		s := &Start{Shape: cluster.Shape{Duration: 1000}, TimeScale: 1, Seed: task}
		got := e.Duration(s)
		if got != e.Duration(s) {
			t.Fatal("the same task lasts another time")
		}
		x := math.Log(got.Seconds())
		sum, squares = sum+x, squares+x*x
	}
	mean := sum / n
	deviation := math.Sqrt(squares/n - mean*mean)
	if math.Abs(mean+sigma*sigma/2) > 0.015 || math.Abs(deviation-sigma) > 0.01 {
		t.Errorf("the logarithm of the factor has mean %.3f and deviation %.3f, want -0.125 and 0.5", mean, deviation)
	}
}
