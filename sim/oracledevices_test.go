package sim_test

import (
	"slices"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

const gpu = cluster.FirstExtra

// gpuLine is a node's line of tasks that need GPUs alone, by definition: nobody starts before the one in front, everybody as
// soon as its GPUs are there, and what ends at one moment ends one after the other.
type gpuLine struct {
	used    []int64 // thousandths of each
	last    time.Duration
	running []gpuTask
}

type gpuTask struct {
	end    time.Duration
	demand int64
	on     []int
}

func newGPULine(gpus int) gpuLine { return gpuLine{used: make([]int64, gpus)} }

func (l *gpuLine) clone() gpuLine {
	return gpuLine{slices.Clone(l.used), l.last, slices.Clone(l.running)}
}

// choose returns the GPUs of a demand, and whether they are there.
func (l *gpuLine) choose(demand int64) (on []int, ok bool) {
	if demand < 1000 {
		for i, used := range l.used {
			if used+demand <= 1000 && (on == nil || used > l.used[on[0]]) {
				on = []int{i}
			}
		}
		return on, on != nil || demand == 0
	}
	for i, used := range l.used {
		if used == 0 && int64(len(on)) < demand/1000 {
			on = append(on, i)
		}
	}
	return on, int64(len(on)) == demand/1000
}

func (l *gpuLine) take(t gpuTask, sign int64) {
	for _, i := range t.on {
		l.used[i] += sign * min(t.demand, 1000)
	}
}

// add returns when a task starts that arrives now.
func (l *gpuLine) add(now, takes time.Duration, demand int64) time.Duration {
	at := max(now, l.last)
	for {
		slices.SortStableFunc(l.running, func(a, b gpuTask) int { return int(a.end - b.end) })
		for len(l.running) > 0 && (l.running[0].end < at || l.running[0].end <= now) {
			l.take(l.running[0], -1)
			l.running = l.running[1:]
		}
		on, ok := l.choose(demand)
		if ok {
			if demand == 0 {
				on = nil
			}
			t := gpuTask{at + takes, demand, on}
			l.take(t, 1)
			l.last, l.running = at, append(l.running, t)
			return at
		}
		at = l.running[0].end
		l.take(l.running[0], -1)
		l.running = l.running[1:]
	}
}

// The oracle books devices as workers do: what it foresees of tasks that share them happens.
func TestOracleForeseesDevices(t *testing.T) {
	dims, err := cluster.NewDimensions("gpu")
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		var nodes []cluster.Node
		var lines []gpuLine
		for i := range rapid.IntRange(1, 3).Draw(t, "nodes") {
			n, gpus := equal(nodeName("class", i), 1, 100)[0], rapid.IntRange(2, 4).Draw(t, "gpus")
			n.Capacity[gpu] = int64(gpus) * 1000
			nodes, lines = append(nodes, n), append(lines, newGPULine(gpus))
		}
		requests := make([]generator.Request, rapid.IntRange(1, 40).Draw(t, "tasks"))
		at := time.Duration(0)
		for i := range requests {
			at += time.Duration(rapid.IntRange(0, 400).Draw(t, "gap")) * ms
			requests[i] = unit(i, at, time.Duration(rapid.IntRange(1, 15).Draw(t, "duration"))*100*ms)
			requests[i].Demand[gpu] = rapid.SampledFrom([]int64{0, 200, 300, 500, 700, 1000, 2000}).Draw(t, "demand")
		}
		cfg := bare(t, sim.Oracle, nodes, requests)
		cfg.Replica.Dimensions = dims
		rows, _ := run(t, cfg)
		for i, q := range requests {
			best, start := -1, time.Duration(0)
			takes := time.Duration(q.Duration) * ms
			for j := range lines {
				ahead := lines[j].clone()
				if s := ahead.add(q.Start, takes, q.Demand[gpu]); best < 0 || s < start {
					best, start = j, s
				}
			}
			lines[best].add(q.Start, takes, q.Demand[gpu])
			if r := rows[strconv.Itoa(i)]; r.Worker != nodes[best].Name || r.Started != start {
				t.Fatalf("task %d ran on %s from %v, want %s from %v", i, r.Worker, r.Started, nodes[best].Name, start)
			}
		}
	})
}

// No policy over-commits a device: every run checks that from outside.
func TestDevicesUnderEveryPolicy(t *testing.T) {
	dims, err := cluster.NewDimensions("gpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, policy := range []string{"dodoor", "dodoor+", "pot", "random", sim.Oracle} {
		requests := units(300, 40*ms, 500*ms)
		for i := range requests {
			requests[i].Demand[gpu] = []int64{0, 300, 700, 1000, 500, 2000}[i%6]
		}
		nodes := equal("class", 3, 8)
		for i := range nodes {
			nodes[i].Capacity[gpu] = 4000
		}
		cfg := bare(t, policy, nodes, requests)
		cfg.Replica.Dimensions = dims
		rows, _ := run(t, cfg)
		for id, r := range rows {
			if r.Outcome != cluster.Finished {
				t.Errorf("%s: task %s %v", policy, id, r.Outcome)
			}
		}
	}
}
