package worker

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// BenchmarkTask is a task's whole life on a node: enqueue, start, finish, notice, acknowledgement.
func BenchmarkTask(b *testing.B) {
	for _, waiting := range []int{0, 1000} {
		b.Run(fmt.Sprint("waiting=", waiting), func(b *testing.B) {
			n := newNode(b)
			s := attach(b, n, "s", 1)
			var ids [4096]string // more than are held at a time
			for i := range ids {
				ids[i] = fmt.Sprint("task-", i)
			}
			next := 0
			for ; next <= waiting; next++ {
				s.enqueue(b, n, 0, ids[next], shape(8, 1, 1))
			}
			message, running := s.message(n, cluster.Assignment{}), ids[0]
			b.ReportAllocs()
			for b.Loop() {
				message.Assignments[0] = s.place(ids[next%len(ids)], shape(8, 1, 1))
				message.Number, message.Placed = s.number, s.placed
				n.Enqueue(0, message)
				running = finished(n, 0, running).Start[0].TaskID
				notice, _ := n.Notice(0, "s", 128)
				n.Acknowledged(&notice)
				next++
			}
		})
	}
}

func BenchmarkReport(b *testing.B) {
	n := newNode(b)
	for i := range 5 {
		attach(b, n, fmt.Sprint("s", i), 1)
	}
	b.ReportAllocs()
	for b.Loop() {
		n.Report(0)
	}
}

func BenchmarkProbe(b *testing.B) {
	n := newNode(b)
	for i := range int64(100) {
		n.latencies.add(i, time.Second)
	}
	b.ReportAllocs()
	for b.Loop() {
		n.Probe(0)
	}
}

// Tasks that came and went leave no residue: the heap afterwards is what it was before.
func TestTasksLeaveNothing(t *testing.T) {
	n := newNode(t)
	s := attach(t, n, "s", 1)
	life := func(tasks, burst int) {
		for base := 0; base < tasks; base += burst {
			for i := range burst {
				s.enqueue(t, n, 0, fmt.Sprint(base+i), shape(8, 1, 1))
			}
			for i := range burst {
				finished(n, 0, fmt.Sprint(base+i))
			}
			notice, _ := n.Notice(0, "s", burst)
			n.Acknowledged(&notice)
		}
	}
	life(10_000, 1000)
	before := heap()
	life(300_000, 1000)
	idle(t, n)
	if after := heap(); after > before+256<<10 {
		t.Errorf("%d bytes before, %d after", before, after)
	}
	if size := len(n.queue.waiting.slots); size > minRing {
		t.Errorf("the empty queue keeps %d slots", size)
	}
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkOverrunReport is a report by a node all of whose tasks have run past their estimates.
func BenchmarkOverrunReport(b *testing.B) {
	for _, tasks := range []int{1, 64, 4096} {
		b.Run(fmt.Sprint("tasks=", tasks), func(b *testing.B) {
			n := newNode(b, func(c *Config) { c.Node.Slots, c.Node.Capacity = tasks, cluster.Resources{1e9, 1e9} })
			s := attach(b, n, "s", 1)
			for i := range seenRatios {
				s.enqueue(b, n, 0, fmt.Sprint("over-", i), shape(1, 1, 1))
				finished(n, time.Duration(i)*time.Second, fmt.Sprint("over-", i))
			}
			for i := range tasks {
				s.enqueue(b, n, 0, fmt.Sprint(i), shape(1, 1, 1))
			}
			var report cluster.Report
			now := 10 * time.Second
			b.ReportAllocs()
			for b.Loop() {
				now += time.Millisecond
				n.FillReport(now, &report)
			}
		})
	}
}
