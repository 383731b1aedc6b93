package generator

import (
	"math"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

func TestWorkloadTasks(t *testing.T) {
	q, err := ReadTrace(strings.NewReader("a,2,100,7,1500,10,matmul,small\nb,1,50,7,500,20,matmul,long\nc,1,1,1,1,30,x,y\n"),
		cluster.Standard(), 0)
	if err != nil {
		t.Fatal(err)
	}
	w, err := NewWorkload(q, Options{N: 2, IDPrefix: "run2-", NoDisk: true, AtMostOnce: true,
		Pacing: Pacing{TraceScale: 2, TimeScale: 5}})
	if err != nil {
		t.Fatal(err)
	}
	if w.Len() != 2 || w.TimeScale() != 5 || w.Due(0) != time.Millisecond || w.Due(1) != 2*time.Millisecond {
		t.Errorf("%d tasks, due %v and %v", w.Len(), w.Due(0), w.Due(1))
	}
	s := w.Task(0)
	if s.ID != "run2-a" || s.Type != "matmul" || s.Mode != "short" || !s.AtMostOnce || s.TimeScale != 5 {
		t.Errorf("got %+v", s)
	}
	if *s.Demand != (cluster.Resources{2000, 100, 0}) || *s.Duration != 1500 {
		t.Errorf("the row's own figures came out as %v for %d ms", *s.Demand, *s.Duration)
	}
	row := w.NewRow(1)
	if row.TaskID != "run2-b" || row.Scheduled != w.Due(1) || row.Sent != Never || row.Completed != Never || row.Cores != 1000 {
		t.Errorf("got %+v", row)
	}
}

// Ids are the trace's own unless a prefix is asked for, so that two runs draw the same for a task.
func TestWorkloadKeepsIDsAndDisk(t *testing.T) {
	w, err := NewWorkload([]Request{{ID: "17", Type: "t", Demand: cluster.Resources{1, 2, 3}}}, Options{Pacing: Pacing{QPS: 1, TimeScale: 1}})
	if err != nil {
		t.Fatal(err)
	}
	if s := w.Task(0); s.ID != "17" || *s.Demand != (cluster.Resources{1, 2, 3}) {
		t.Errorf("got %+v", s)
	}
}

func TestWorkloadRefusals(t *testing.T) {
	ok := Pacing{QPS: 1, TimeScale: 1}
	for want, c := range map[string]struct {
		have int
		o    Options
	}{
		"5 requests were asked for and the trace has 3": {3, Options{N: 5, Pacing: ok}},
		"number of requests is -1":                      {3, Options{N: -1, Pacing: ok}},
		"no requests":                                   {0, Options{Pacing: ok}},
		"time scale is 0.5: allowed are 1 to 1e+06":     {3, Options{Pacing: Pacing{QPS: 1, TimeScale: 0.5}}},
		"time scale is NaN":                             {3, Options{Pacing: Pacing{QPS: 1, TimeScale: math.NaN()}}},
		"qps is -2":                                     {3, Options{Pacing: Pacing{QPS: -2, TimeScale: 1}}},
	} {
		_, err := NewWorkload(manyRequests(c.have, 0), c.o)
		wantError(t, err, want)
	}
}
