package drive

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/report/results"
)

func TestNewRefuses(t *testing.T) {
	w := workload(t, 1, 0)
	good := config(t, w, fakes(t, "a"))
	for want, spoil := range map[string]func(*Config){
		"nothing to replay":          func(c *Config) { c.Workload = nil },
		"no schedulers":              func(c *Config) { c.Schedulers = nil },
		"no directory":               func(c *Config) { c.Dir = "" },
		"warm-up is -1":              func(c *Config) { c.Warmup = -1 },
		`scheduler "a": every`:       func(c *Config) { c.Schedulers = append(c.Schedulers, c.Schedulers[0]) },
		`scheduler "nil": every sch`: func(c *Config) { c.Schedulers = []Target{{Name: "nil"}} },
		"no data service to say":     func(c *Config) { c.Connect = (&registry{}).connect },
		`scheduler "a" at "": one`:   func(c *Config) { c.Connect, c.Data = (&registry{}).connect, &registry{} },
		`scheduler "b" at "a:1": one`: func(c *Config) {
			c.Connect, c.Data, c.Schedulers[0].Address = (&registry{}).connect, &registry{}, "a:1"
			c.Schedulers = append(c.Schedulers, Target{Name: "b", Address: "a:1", Service: c.Schedulers[0].Service})
		},
	} {
		c := good
		c.Schedulers = slices.Clone(good.Schedulers)
		spoil(&c)
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

func TestRunDirIsNotOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t, workload(t, 1, 0), fakes(t, "a"))
		replay(t, t.Context(), c)
		c.Schedulers[0].Service = newFake(t, "a")
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "holds a run already") {
			t.Errorf("got %v", err)
		}
	})
}

func TestNoSchedulerAnswersAtAll(t *testing.T) {
	schedulers := fakes(t, "a", "b")
	schedulers[0].dead, schedulers[1].dead = true, true
	c := config(t, workload(t, 1, 0), schedulers)
	d, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Run(t.Context()); !errors.Is(err, rpc.ErrUnavailable) || !strings.Contains(err.Error(), "no scheduler answers") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(c.Dir); err == nil {
		t.Error("a run that did not begin left a directory")
	}
}

// Rows that cannot be written end the run with an error: it would measure for nothing.
func TestRowsThatCannotBeWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := config(t, workload(t, 100000, time.Millisecond), fakes(t, "a"))
		d, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		dir, err := rundir.Create(c.Dir)
		if err != nil {
			t.Fatal(err)
		}
		dir.Close() // stands for a full disk
		r := newRun(&d.cfg, dir, &generator.RunInfo{Started: time.Now()}, nil)
		if err := r.play(t.Context(), nil); !errors.Is(err, os.ErrClosed) {
			t.Errorf("got %v", err)
		}
		if took := r.session.Now(); took > 10*time.Second {
			t.Errorf("the run went on for %v", took)
		}
	})
}

// A run needs one scheduler; whoever else is missing is missed, and said to be.
func TestServicesThatAreMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		schedulers := fakes(t, "a", "b")
		schedulers[0].dead = true
		c := config(t, workload(t, 2000, time.Millisecond), schedulers)
		c.Data = deafData{}
		result := replay(t, t.Context(), c)
		rows(t, c, result)
		if !result.Clean() {
			t.Errorf("got %+v", result)
		}
		nodes, err := os.ReadFile(c.Dir + "/nodes.csv")
		if err != nil || strings.Count(string(nodes), "\n") != 1 {
			t.Errorf("samples of a data service that does not answer: %s, %v", nodes, err)
		}
		if s, err := results.Summarise(c.Dir); err != nil || s.Messages.Submit != 2000 {
			t.Errorf("got %+v, %v", s, err)
		}
	})
}

type deafData struct{ rpc.DataService }

func (deafData) Counters(context.Context) (map[string]int64, error) { return nil, errGone }
func (deafData) Status(context.Context) (cluster.ClusterStatus, error) {
	return cluster.ClusterStatus{}, errGone
}
