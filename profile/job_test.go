package profile

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dodoor/conf"
)

// bursty is a program that uses a whole core for 600 ms and waits for 400: under less than a core its work
// takes longer, and the waiting does not.
func bursty(limit conf.Shape) Run {
	const work, wait = 600 * time.Millisecond, 400 * time.Millisecond
	return Run{Total: time.Duration(float64(work)/min(limit.Cores, 1)) + wait, CPU: work, PeakMemory: 50}
}

func newJob(told bool, limit conf.Shape) *job {
	return &job{typ: &conf.TaskType{Name: "t"}, mode: &conf.Mode{Name: "short"}, told: told, shape: limit}
}

// A task that needs less than its limit is slower under what it needs, where a worker will hold it: that
// is its duration. Its demand is what it used while it was free to.
func TestDurationsAreThoseUnderTheDemand(t *testing.T) {
	for _, c := range []struct {
		name     string
		told     bool
		limit    float64
		cores    float64
		duration time.Duration
		runs     int
		says     string
	}{
		{"needs less", false, 1, 0.6, 1400 * time.Millisecond, 5 + 3,
			"mean 1400 ms, P50 1400, P95 1400, CV 0.0 %; start-up 0 ms, 0.60 cores, 50 MiB at most (with cores = 1: mean 1000 ms)"},
		{"needs all", false, 0.1, 0.1, 6400 * time.Millisecond, 5, "mean 6400 ms"},
		{"is told", true, 1, 1, 1000 * time.Millisecond, 5, "0.60 cores"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j, limits := newJob(c.told, conf.Shape{Cores: c.limit, MemoryMB: 512}), []float64(nil)
			err := j.run(5, 2, func(limit conf.Shape) (Run, error) {
				limits = append(limits, limit.Cores)
				return bursty(limit), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			f := j.figures()
			if f.Cores != c.cores || time.Duration(f.Duration) != c.duration || len(limits) != c.runs || len(j.runs) != 3 {
				t.Errorf("%+v after runs under %v, %d of which count", f, limits, len(j.runs))
			}
			if want := map[bool]int64{true: 512, false: 50*6/5 + 8}[c.told]; f.MemoryMB != want {
				t.Errorf("%d MiB, want %d", f.MemoryMB, want)
			}
			if line := j.summary(); !strings.Contains(line, c.says) || strings.Contains(line, "with cores") != (c.runs > 5) {
				t.Errorf("says %q, want %q", line, c.says)
			}
		})
	}
}

// Of a run that fails under the demand, people learn what the demand was.
func TestARunThatFailsUnderItsDemand(t *testing.T) {
	j := newJob(false, conf.Shape{Cores: 1, MemoryMB: 512})
	err := j.run(2, 1, func(limit conf.Shape) (Run, error) {
		if limit.MemoryMB < 512 {
			return Run{}, errors.New("killed")
		}
		return bursty(limit), nil
	})
	if want := "t short, run 1 of 1 under the demand that was found, 0.6 cores and 68 MiB: killed"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
