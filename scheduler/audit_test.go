package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// held is a replica whose workers "a" and "b" hold tasks, and the dispatches of those on a, which were
// acknowledged at accepted; the names of some must not run twice.
func held(t *testing.T, accepted time.Duration, atMostOnce ...int) (*Replica, []Dispatch) {
	t.Helper()
	r := replicaWith(t, testConfig(), paperPolicy(t), []cluster.Node{nodeOf("a", 64, 1<<20), nodeOf("b", 64, 1<<20)})
	var onA []Dispatch
	for i := 0; len(onA) < 8; i++ {
		spec := request(fmt.Sprint("t", i), 1, 1, 1000)
		spec.AtMostOnce = slices.Contains(atMostOnce, len(onA))
		d := submit(t, r, 0, spec)
		acknowledge(r, accepted, d)
		if d.Node == 0 {
			onA = append(onA, d)
		}
	}
	return r, onA
}

// A worker is overdue when it has acknowledged a task longer ago than the age and said nothing since; each is
// named once, in order. A placement that no worker has acknowledged is none of its debts.
func TestOverdue(t *testing.T) {
	const age = 10 * time.Second
	r, _ := held(t, time.Hour)
	for after, want := range map[time.Duration][]int{0: nil, age: nil, age + 1: {0, 1}} {
		if got := r.Overdue(time.Hour+after, age); !slices.Equal(got, want) {
			t.Errorf("%v after the acknowledgement: %v are overdue, want %v", after, got, want)
		}
	}
	r = replicaWith(t, testConfig(), paperPolicy(t), paperNodes(1))
	submit(t, r, 0, request("on its way", 1, 1, 1000))
	if got := r.Overdue(time.Hour, age); len(got) > 0 {
		t.Errorf("%v are overdue with nothing but a message on its way", got)
	}
}

// What a worker had acknowledged before it was asked, and does not hold, is placed again in the order of its
// stream, or lost when it must not run twice; what it holds, what it acknowledged since, and what is elsewhere stays.
func TestAudited(t *testing.T) {
	const accepted = time.Second
	r, onA := held(t, accepted, 2, 4)
	if ready := r.Audited(time.Minute, 0, 99, accepted+1, nobody); len(ready.Send) > 0 {
		t.Errorf("%d tasks are placed again after the audit of another process", len(ready.Send))
	}
	if ready := r.Audited(time.Minute, 0, 1, accepted, nobody); len(ready.Send) > 0 {
		t.Errorf("%d tasks are placed again that the worker took after it was asked", len(ready.Send))
	}
	kept := onA[5].Assignment.TaskID
	var again []string
	for _, d := range r.Audited(time.Minute, 0, 1, accepted+1, func(id string) bool { return id == kept }).Send {
		again = append(again, d.Assignment.TaskID)
	}
	var want []string
	for i, d := range onA {
		if i != 2 && i != 4 && i != 5 {
			want = append(want, d.Assignment.TaskID)
		}
	}
	if !slices.Equal(again, want) {
		t.Errorf("%v are placed again, want %v", again, want)
	}
	records, _ := collectAll(t, r, 0)
	if len(records) != 2 || records[0].Outcome != cluster.Lost || records[0].ID != onA[2].Assignment.TaskID ||
		records[1].ID != onA[4].Assignment.TaskID {
		t.Errorf("records %+v, want the two that must not run twice, lost", records)
	}
}

func nobody(string) bool { return false }
