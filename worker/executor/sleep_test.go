package executor

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

func TestSleepTakesTheEstimateByTheTimeScale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for scale, want := range map[float64]time.Duration{1: 3 * time.Second, 100: 30 * time.Millisecond} {
			s := executortest.Start(1, 1, 3000)
			s.TimeScale = scale
			begin := time.Now()
			r := Sleep{}.Run(t.Context(), s)
			if r.Outcome != cluster.Finished || time.Since(begin) != want {
				t.Errorf("scale %v: %v after %v, want %v", scale, r.Outcome, time.Since(begin), want)
			}
		}
	})
}

func TestSleepEndsEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if r := (Sleep{}).Run(ctx, executortest.Start(1, 1, 1001)); r.Outcome != cluster.TimedOut || r.Reason == "" {
			t.Errorf("at its deadline: %+v", r)
		}
		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		begin := time.Now()
		if r := (Sleep{}).Run(ctx, executortest.Start(1, 1, 5000)); r.Outcome != cluster.Cancelled || time.Since(begin) != time.Second {
			t.Errorf("cancelled: %+v after %v", r, time.Since(begin))
		}
	})
}

func TestThousandsSleepAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var all sync.WaitGroup
		for range 20_000 {
			all.Go(func() { Sleep{}.Run(t.Context(), executortest.Start(1, 1, 60_000)) })
		}
		all.Wait()
		if time.Since(begin) != time.Minute {
			t.Errorf("took %v", time.Since(begin))
		}
	})
}

func noisy(sigma float64, seed uint64) Sleep {
	return Sleep{Emulation: worker.Emulation{Sigma: sigma, Seed: seed}}
}

func TestNoiseDependsOnSeedAndTaskAlone(t *testing.T) {
	e, s := noisy(0.5, 1), executortest.Start(1, 1, 1000)
	first := e.Duration(&s)
	if again := e.Duration(&s); again != first {
		t.Errorf("%v, then %v", first, again)
	}
	other := s
	other.Seed++
	if e.Duration(&other) == first || noisy(0.5, 2).Duration(&s) == first {
		t.Error("another task or run has the same noise")
	}
}

// The factor is lognormal with mean 1 and the given sigma.
func TestNoiseHasTheRightMoments(t *testing.T) {
	const n, sigma = 20_000, 0.5
	e := noisy(sigma, 7)
	var sum, logs, squares float64
	for i := range n {
		s := executortest.Start(1, 1, 1_000_000)
		s.Seed = cluster.HashID(fmt.Sprint(i))
		factor := float64(e.Duration(&s)) / float64(1000*time.Second)
		sum += factor
		logs += math.Log(factor)
		squares += math.Log(factor) * math.Log(factor)
	}
	mean, logMean := sum/n, logs/n
	deviation := math.Sqrt(squares/n - logMean*logMean)
	if math.Abs(mean-1) > 0.02 || math.Abs(deviation-sigma) > 0.01 {
		t.Errorf("mean %.4f, sigma %.4f; want 1 and %v", mean, deviation, sigma)
	}
}

func TestAbsurdNoiseStaysADuration(t *testing.T) {
	s := executortest.Start(1, 1, cluster.MaxDuration)
	for seed := range uint64(100) {
		s.Seed = seed
		if d := noisy(50, 0).Duration(&s); d < 0 {
			t.Fatalf("seed %d: %v", seed, d)
		}
	}
}

func BenchmarkSleep(b *testing.B) {
	e, s := noisy(0.3, 1), executortest.Start(1, 1, 0)
	b.ReportAllocs()
	for b.Loop() {
		e.Run(b.Context(), s)
	}
}
