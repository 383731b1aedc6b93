package worker

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// overrunOracle keeps everything that ever ran and works every figure out anew.
type overrunOracle struct {
	runs   []*oracleRun
	next   time.Duration // no report before
	as     time.Duration // what is beyond estimates was worked out then
	summed bool
}

type oracleRun struct {
	id, kind       string
	shape          cluster.Shape
	scale          float64
	started        time.Duration
	waiting, ended bool
	counts         float64 // ratio, once it has finished; 0: it did not
	toTell         time.Duration
	beyond         int64
}

// estimate is in nanoseconds.
func (r *oracleRun) estimate() time.Duration {
	return time.Duration(float64(max(r.shape.Duration, 1)) * 1e6 / r.scale)
}

func (r *oracleRun) ran(now time.Duration) time.Duration {
	if now < r.started {
		return 0
	}
	return now - r.started
}

func (r *oracleRun) ratio(now time.Duration) float64 {
	return float64(r.ran(now)) / float64(r.estimate())
}

// left is the rule in a sentence each: of the 64 newest ratios those of its kind, if there are 8; of these those above its
// own; of these the median, or twice what it ran.
func (o *overrunOracle) left(now time.Duration, r *oracleRun, history []*oracleRun) time.Duration {
	newest := history[max(0, len(history)-64):]
	var alike, above []float64
	for _, h := range newest {
		if h.kind == r.kind {
			alike = append(alike, h.counts)
		}
	}
	if len(alike) < 8 {
		alike = nil
		for _, h := range newest {
			alike = append(alike, h.counts)
		}
	}
	slices.Sort(alike)
	for _, v := range alike {
		if v > r.ratio(now) {
			above = append(above, v)
		}
	}
	if len(above) == 0 {
		return r.ran(now)
	}
	return time.Duration(above[(len(above)-1)/2]*float64(r.estimate())) - r.ran(now)
}

// load is what was placed and is not over, and what is beyond estimates, as of up to 10 ms ago.
func (o *overrunOracle) load(now time.Duration, history []*oracleRun) (sum cluster.Load) {
	if age := now - o.as; !o.summed || age < 0 || age >= 10*time.Millisecond {
		o.summed, o.as = true, now
		for _, r := range o.runs {
			if r.beyond = 0; !r.waiting && !r.ended && r.ran(now) > r.estimate() {
				ms := int64(math.Ceil(float64(o.left(now, r, history)) * r.scale / 1e6))
				r.beyond = max(0, min(ms, cluster.MaxDuration)-r.shape.Duration)
			}
		}
	}
	for _, r := range o.runs {
		if r.ended {
			continue
		}
		sum = sum.Add(cluster.LoadOf(r.shape))
		sum.Duration += r.beyond
		sum.Work += r.beyond * r.shape.Demand[cluster.Cores]
	}
	return sum
}

// due says whether a moment to report has come: 9/8 of the estimate, 100 ms after it at least, or a power of two of it; and not
// within 100 ms of the last one.
func (o *overrunOracle) due(now time.Duration) (due bool) {
	if now < o.next {
		return false
	}
	for _, r := range o.runs {
		if r.ended || r.waiting || now < r.toTell {
			continue
		}
		due, o.next = true, now+100*time.Millisecond
		for times := time.Duration(1); r.toTell <= now || r.toTell <= r.started+r.ran(now); times *= 2 {
			r.toTell = r.started + times*r.estimate()
		}
	}
	return due
}

// What reports and probes say of tasks that run longer than estimated is what the rule says, whatever the clock does, and
// nothing is left of it when all has ended. The node asks to look at the clock early enough for every report that is due.
func TestOverrunsAgainstOracle(t *testing.T) {
	kinds := []string{"simulated", "float/short", "float/long", "command"}
	rapid.Check(t, func(t *rapid.T) {
		cfg := commandConfig()
		cfg.Node.Slots = rapid.IntRange(1, 4).Draw(t, "slots")
		cfg.Reestimate = true
		n, err := New(cfg)
		if err != nil {
			t.Fatal(err)
		}
		s := &client{ref: cluster.SchedulerRef{Name: "s", Incarnation: 1}}
		if _, _, err := n.Attach(0, s.ref); err != nil {
			t.Fatal(err)
		}
		o := &overrunOracle{}
		var history []*oracleRun
		var now time.Duration
		var received cluster.Load
		begun := func(actions Actions) {
			for _, start := range actions.Start {
				i := slices.IndexFunc(o.runs, func(r *oracleRun) bool { return r.id == start.TaskID })
				r := o.runs[i]
				r.waiting, r.started = false, now
				r.toTell = now + r.estimate() + max(100*time.Millisecond, time.Duration(float64(r.estimate())/8))
			}
		}
		running := func() (list []*oracleRun) {
			for _, r := range o.runs {
				if !r.ended && !r.waiting {
					list = append(list, r)
				}
			}
			return list
		}
		t.Repeat(map[string]func(*rapid.T){
			"place": func(t *rapid.T) {
				r := &oracleRun{id: fmt.Sprint(len(o.runs)), kind: rapid.SampledFrom(kinds).Draw(t, "kind"), waiting: true,
					scale: rapid.SampledFrom([]float64{1, 4, 1000}).Draw(t, "scale")}
				r.shape = cluster.Shape{Demand: cluster.Resources{rapid.Int64Range(0, 3000).Draw(t, "cores")},
					Duration: rapid.Int64Range(0, 20_000).Draw(t, "estimate")}
				if r.kind == "command" {
					r.scale = 1
				}
				a := s.place(r.id, r.shape)
				a.TimeScale = r.scale
				switch r.kind {
				case "float/short", "float/long":
					a.Type, a.Mode = "float", r.kind[len("float/"):]
				case "command":
					bringing(&a, "gzip", true)
				}
				received = received.Add(cluster.LoadOf(r.shape))
				o.runs = append(o.runs, r)
				reply, actions, err := n.Enqueue(now, s.message(n, a))
				if err != nil || len(reply.Refused) > 0 {
					t.Fatal(reply, err)
				}
				begun(actions)
			},
			"end": func(t *rapid.T) {
				list := running()
				if len(list) == 0 {
					t.Skip("nothing runs")
				}
				r := rapid.SampledFrom(list).Draw(t, "task")
				r.ended = true
				outcome := rapid.SampledFrom([]cluster.Outcome{cluster.Finished, cluster.Finished, cluster.Failed,
					cluster.Cancelled}).Draw(t, "outcome")
				if outcome == cluster.Finished {
					r.counts = r.ratio(now)
					history = append(history, r)
				}
				begun(n.Finished(now, r.id, Result{Outcome: outcome}))
			},
			"clock": func(t *rapid.T) {
				now = max(0, now+time.Duration(rapid.OneOf(rapid.Int64Range(-2_000, 30_000), rapid.Int64Range(0, 110)).Draw(t, "ms"))*time.Millisecond)
			},
			"look": func(t *rapid.T) {
				want := o.due(now)
				if due := n.Due(); want && (due == 0 || due > now) {
					t.Fatalf("a report is due at %v, and the node wants to look at %v", now, due)
				}
				if got := n.Overran(now).Report; got != want {
					t.Fatalf("report %v, want %v", got, want)
				}
				if due := n.Due(); due != 0 && due <= now || due == 0 && len(running()) > 0 {
					t.Fatalf("at %v, with %d running, it looks again at %v", now, len(running()), due)
				}
			},
			"": func(t *rapid.T) {
				want := o.load(now, history)
				report := n.Report(now)
				if report.Load != want || n.Probe(now).Pending != want.Duration {
					t.Fatalf("load %+v, pending %d, want %+v", report.Load, n.Probe(now).Pending, want)
				}
				if report.Received[0].Received != received {
					t.Fatalf("received %+v, want %+v", report.Received[0].Received, received)
				}
			},
		})
		for list := running(); len(list) > 0; list = running() {
			list[0].ended = true
			begun(n.Finished(now, list[0].id, Result{Outcome: cluster.Finished}))
		}
		if r := n.Report(now); r.Load != (cluster.Load{}) || n.Due() != 0 {
			t.Fatalf("left behind: %+v, a look at %v", r.Load, n.Due())
		}
	})
}
