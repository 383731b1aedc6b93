package scheduler

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"
	"unsafe"

	"dodoor/internal/cluster"
)

// commandOf is a task of a job as the decoder hands it over: with strings of its own, but for the template's digest.
func commandOf(job string, index int64, t *cluster.Template, digest string) *cluster.TaskSpec {
	return &cluster.TaskSpec{ID: fmt.Sprintf("%s.%d", job, index), Type: cluster.CommandType, TimeScale: 1,
		Command: &cluster.Command{Digest: strings.Clone(digest), Template: t, Job: strings.Clone(job), Index: index}}
}

// waitingTasks is a replica with so many tasks of one job, with the name of a file for each, acknowledged by their workers.
func waitingTasks(t testing.TB, n int, e Estimates) *Replica {
	t.Helper()
	cfg := testConfig()
	cfg.MaxPending, cfg.Estimates = n, e
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(100))
	template := &cluster.Template{Argv: []string{"./sim", "-seed", "{}"}}
	digest := template.Digest()
	for i := range n {
		spec := commandOf("k3w9f2ad", int64(i), template, digest)
		spec.Command.Entries = []string{fmt.Sprintf("logs/file-%06d.log", i)}
		actions, refusal := r.SubmitJob(time.Second, &cluster.Job{ID: "k3w9f2ad"}, "", spec)
		if refusal != nil {
			t.Fatal(refusal)
		}
		acknowledge(r, time.Second, actions.Send[0])
		template = nil // it travels once
	}
	return r
}

func heap() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// bytesPerTask is what a scheduler keeps for each of n tasks that wait, everything included.
func bytesPerTask(t testing.TB, n int, e Estimates) float64 {
	t.Helper()
	before := heap()
	r := waitingTasks(t, n, e)
	per := float64(int64(heap()-before)) / float64(n)
	runtime.KeepAlive(r)
	return per
}

// A waiting task of a job takes less than 320 bytes of a scheduler, wherever the growth of its map stands, and whatever is
// learned; what is left of an ended one, 40.
func TestWaitingTasksAreSmall(t *testing.T) {
	for _, n := range []int{30_000, 40_000, 60_000} {
		for _, e := range []Estimates{Given, Learned} {
			if per := bytesPerTask(t, n, e); per >= 320 {
				t.Errorf("%d tasks take %.0f bytes each with %v estimates", n, per, e)
			}
		}
	}
	if size := unsafe.Sizeof(entry{}); size > 40 {
		t.Errorf("an entry of a ledger has %d bytes", size)
	}
}

func BenchmarkWaitingTasks(b *testing.B) {
	per := 0.0
	for range b.N {
		per = bytesPerTask(b, 1_000_000, Learned)
	}
	b.ReportMetric(per, "bytes/task")
}

// BenchmarkTask is the way of one task through a replica, from its submission to its collected result.
func BenchmarkTask(b *testing.B) {
	wayOfATask(b, replicaWith(b, testConfig(), paperPolicy(b), paperNodes(100)), func() {})
}

// wayOfATask is what a benchmark of it does, so often; now and then results are collected.
func wayOfATask(b *testing.B, r *Replica, nowAndThen func()) (n int) {
	spec := request("", 1, 1, 1)
	names := make([]string, 4096)
	for i := range names {
		names[i] = fmt.Sprint("t", i)
	}
	reply, notice, cursor := &cluster.EnqueueReply{}, &cluster.CompletionNotice{SchedulerIncarnation: testIncarnation,
		Completions: make([]cluster.Completion, 1)}, int64(0)
	var records []cluster.TaskRecord
	r.results.keep, r.results.limit = 1, 1
	b.ReportAllocs()
	for ; b.Loop(); n++ {
		now := time.Duration(n)
		spec.ID = names[n%len(names)]
		actions, refusal := r.Submit(now, "client", spec)
		if refusal != nil {
			b.Fatal(refusal)
		}
		d := actions.Send[0]
		r.Acknowledged(now, []Dispatch{d}, reply)
		notice.Node, notice.NodeIncarnation = r.nodes.slots[d.Node].Name, d.NodeIncarnation
		notice.Completions[0] = cluster.Completion{TaskID: spec.ID, Number: d.Assignment.Number, Outcome: cluster.Finished}
		if _, err := r.Completed(now, notice); err != nil {
			b.Fatal(err)
		}
		if n%64 == 0 {
			records, cursor = r.results.collect(records[:0], collector{name: "client"}, cursor, 1<<20)
			r.results.expire(now)
			nowAndThen()
		}
	}
	return n
}
