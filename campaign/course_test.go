package campaign

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/internal/cluster"
)

// courseOf follows a run of tasks that are due every second, in any order.
func courseOf(t *testing.T, n int, change conf.Change, row func(i int, r *generator.Row)) Course {
	t.Helper()
	requests := make([]generator.Request, n)
	for i := range requests {
		requests[i] = generator.Request{ID: strconv.Itoa(i), Type: "a", Start: time.Duration(i) * time.Second, Duration: 1,
			Demand: cluster.Resources{1000}}
	}
	w, err := generator.NewWorkload(requests, generator.Options{Pacing: generator.Pacing{TraceScale: 1, TimeScale: 2}})
	if err != nil {
		t.Fatal(err)
	}
	c := conf.Default()
	c.Sim.Change = change
	taker := newCourseTaker(c, w)
	for _, i := range rand.New(rand.NewPCG(1, 1)).Perm(n) {
		r := generator.Row{Type: "a", Class: "x", Scheduled: w.Due(i), Received: w.Due(i), Started: w.Due(i), Estimate: 1000,
			Outcome: cluster.Finished}
		row(i, &r)
		taker.Add(&r)
	}
	return taker.Course()
}

// takes lets a task run for so many seconds of trace time.
func takes(r *generator.Row, seconds float64) {
	r.Finished = r.Started + time.Duration(seconds/2*float64(time.Second))
	r.Completed = r.Finished
}

// Windows are of the tasks in the order in which they were due, and of all after them; a task that did not finish is in none.
func TestWindows(t *testing.T) {
	c := courseOf(t, 1200, conf.Change{Factor: 1}, func(i int, r *generator.Row) {
		switch {
		case i < 250:
			takes(r, 1)
		case i < 500:
			takes(r, 2)
		case i < 1000:
			takes(r, 3)
		default:
			takes(r, float64(i-999))
		}
		if i == 7 {
			takes(r, 1e6)
			r.Outcome = cluster.Failed
		}
	})
	if want := [4]float64{1, 2, 3, 100.5}; c.Windows != want || c.LateP95 != 190 {
		t.Errorf("%v, P95 %v, want %v and 190", c.Windows, c.LateP95, want)
	}
	if !math.IsNaN(c.Changed) || !math.IsNaN(c.Followed) {
		t.Errorf("nothing changed, and yet %v, %v", c.Changed, c.Followed)
	}
}

// Of a run that is too short for a window there is no figure.
func TestShortCourse(t *testing.T) {
	c := courseOf(t, 300, conf.Change{From: 1, Factor: 2}, func(_ int, r *generator.Row) { takes(r, 1) })
	if c.Windows[0] != 1 || c.Windows[1] != 1 || !math.IsNaN(c.Windows[2]) || !math.IsNaN(c.Windows[3]) || !math.IsNaN(c.LateP95) ||
		!math.IsNaN(c.Followed) {
		t.Errorf("%+v", c)
	}
}

// Estimates follow a change with the completion after which none is far off any more, on the class where that comes last.
func TestFollowed(t *testing.T) {
	follow := func(late int, never bool) Course {
		return courseOf(t, 100, conf.Change{Type: "a", From: 0.5, Factor: 2}, func(i int, r *generator.Row) {
			takes(r, 1)
			if i < 50 {
				r.Estimate = 9999 // long ago
				return
			}
			takes(r, 2)
			r.Estimate = 2400
			switch {
			case i%4 == 1:
				r.Type, r.Estimate = "b", 9999 // nobody changed it
			case i%2 == 1:
				r.Class = "y"
				if i <= late || never {
					r.Estimate = 2501
				}
			}
		})
	}
	for late, want := range map[int]float64{0: 0, 51: 0, 55: 1, 59: 2, 95: 11} {
		if got := follow(late, false).Followed; got != want {
			t.Errorf("wrong up to task %d: followed after %v, want %v", late, got, want)
		}
	}
	c := follow(0, true)
	if !math.IsInf(c.Followed, 1) || c.Changed != 2 {
		t.Errorf("never: %+v", c)
	}
}
