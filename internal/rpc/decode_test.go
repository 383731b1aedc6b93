package rpc

import (
	"strings"
	"testing"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func ptr[T any](v T) *T { return &v }

var (
	validDemand = cluster.Resources{500, 128}
	validRef    = cluster.SchedulerRef{Name: "s0", Address: "10.0.0.1:7000", Incarnation: 1}
	validReport = cluster.Report{Node: "n0", Incarnation: 1, Sequence: 1,
		Received: []cluster.Received{{Scheduler: "s0", Incarnation: 1, Number: 1}}}
	validNode = cluster.Node{Name: "n0", Address: "10.0.0.1:7001", Class: "m510", Capacity: validDemand, Slots: 8, Incarnation: 1}
)

func validTask() *dodoor.TaskSpec {
	return encoder{dims}.task(&taskMessage{}, &cluster.TaskSpec{ID: "t1", Type: "matmul", Mode: "short",
		Demand: ptr(validDemand), Duration: ptr(int64(1000)), TimeScale: 1})
}

func validEnqueue() *dodoor.EnqueueRequest {
	assignment := func(number int64) cluster.Assignment {
		return cluster.Assignment{Number: number, TaskID: "t1", Type: "matmul", TimeScale: 1,
			Shape: cluster.Shape{Demand: validDemand, Duration: 1000}}
	}
	return encoder{dims}.enqueue(&cluster.Enqueue{Scheduler: validRef, NodeIncarnation: 1, Number: 4,
		Assignments: []cluster.Assignment{assignment(3), assignment(4)}})
}

func validSnapshot() *dodoor.Snapshot {
	return encoder{dims}.snapshot(&cluster.Snapshot{Incarnation: 1, Version: 5, BaseVersion: 4, RosterVersion: 2,
		Roster: &cluster.Roster{Version: 2, Nodes: []cluster.Node{validNode, validNode}}, ReceiverIncarnation: 1,
		Node: []int32{0, 1}, Load: make([]cluster.Load, 2), ReportSequence: make([]int64, 2), OwnNumber: make([]int64, 2)})
}

// TestInvalidMessages spoils one field of a valid message at a time. The error says which field is
// wrong, and what would have been right.
func TestInvalidMessages(t *testing.T) {
	enqueue := func(spoil func(*dodoor.EnqueueRequest)) func(*decoder) {
		return func(d *decoder) { w := validEnqueue(); spoil(w); d.enqueue(w) }
	}
	snapshot := func(spoil func(*dodoor.Snapshot)) func(*decoder) {
		return func(d *decoder) { w := validSnapshot(); spoil(w); d.snapshot(w) }
	}
	report := func(spoil func(*dodoor.Report)) func(*decoder) {
		return func(d *decoder) { w := encoder{dims}.report(&validReport); spoil(w); d.report("report", w) }
	}
	node := func(spoil func(*dodoor.Node)) func(*decoder) {
		return func(d *decoder) { n := validNode; w := encoder{dims}.node(&n); spoil(w); d.node("node", -1, w) }
	}
	completion := func(spoil func(*dodoor.Completion)) func(*decoder) {
		return func(d *decoder) {
			w := encoder{dims}.notice(&cluster.CompletionNotice{Node: "n0", NodeIncarnation: 1, SchedulerIncarnation: 1,
				Completions: []cluster.Completion{{TaskID: "t1", Number: 1, Outcome: cluster.Finished}}})
			spoil(w.Completions[0])
			d.notice(w)
		}
	}
	collect := func(spoil func(*dodoor.CollectRequest)) func(*decoder) {
		return func(d *decoder) {
			w := encoder{dims}.collect(&cluster.CollectRequest{Client: "c"})
			spoil(w)
			d.collect(w)
		}
	}
	for _, c := range []struct {
		want   string
		decode func(*decoder)
	}{
		{"request is missing", func(d *decoder) { d.enqueue(nil) }},
		{"request is missing", func(d *decoder) { d.submit(nil) }},
		{"request is missing", func(d *decoder) { d.collect(nil) }},
		{"request is missing", func(d *decoder) { d.probe(nil) }},
		{"notice is missing", func(d *decoder) { d.notice(nil) }},
		{"snapshot is missing", func(d *decoder) { d.snapshot(nil) }},
		{"delta is missing", func(d *decoder) { d.delta(nil) }},
		{"query is missing", func(d *decoder) { d.query(nil) }},
		{"report is missing", func(d *decoder) { d.report("report", nil) }},
		{"max is missing", func(d *decoder) { d.query(&dodoor.TaskQuery{}) }},

		{"scheduler is missing", enqueue(func(w *dodoor.EnqueueRequest) { w.Scheduler = nil })},
		{"scheduler.name is missing", enqueue(func(w *dodoor.EnqueueRequest) { w.Scheduler.Name = ptr("") })},
		{"scheduler.incarnation is 0: must be positive",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Scheduler.Incarnation = ptr(int64(0)) })},
		{"placed is missing", enqueue(func(w *dodoor.EnqueueRequest) { w.Placed = nil })},
		{"placed.demand is missing", enqueue(func(w *dodoor.EnqueueRequest) { w.Placed.Demand = nil })},
		{"placed.work is missing", enqueue(func(w *dodoor.EnqueueRequest) { w.Placed.Work = nil })},
		{"number is -1: must be at least 0", enqueue(func(w *dodoor.EnqueueRequest) { w.Number = ptr(int64(-1)) })},
		{"assignments[1].number is 5: must be from 4 to 4",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[1].Number = ptr(int64(5)) })},
		{"assignments[1].number is 3: must be from 4 to 4",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[1].Number = ptr(int64(3)) })},
		{"assignments[0].demand is missing", enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].Demand = nil })},
		{"assignments[0].demand.millicores is missing",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].Demand = &dodoor.Amounts{} })},
		{"assignments[0].demand.memory_mib is -1: must be from 0 to 1099511627776",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].Demand.MemoryMib = ptr(int64(-1)) })},
		{"assignments[0].demand.disk_mib is 1099511627777: must be from 0 to 1099511627776",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].Demand.DiskMib = ptr(cluster.MaxAmount + 1) })},
		{"assignments[0].demand.extra.gpu is -5: must be from 0 to 1099511627776", enqueue(func(w *dodoor.EnqueueRequest) {
			w.Assignments[0].Demand.Extra = map[string]int64{"gpu": -5}
		})},
		{`assignments[0].demand.extra names the unknown resource "tpu": this cluster has fpga, gpu`,
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].Demand.Extra = map[string]int64{"tpu": 5} })},
		{`assignments[0].demand.extra names the unknown resource "cores": this cluster has fpga, gpu`,
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].Demand.Extra = map[string]int64{"cores": 5} })},
		{"assignments[0].duration_ms is 31536000001: must be from 0 to 31536000000",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments[0].DurationMs = ptr(cluster.MaxDuration + 1) })},
		{"assignments has 65537 entries: at most 65536 are allowed",
			enqueue(func(w *dodoor.EnqueueRequest) { w.Assignments = make([]*dodoor.Assignment, maxItems+1) })},

		{"load.tasks is -1: must be at least 0", report(func(w *dodoor.Report) { w.Load.Tasks = ptr(int64(-1)) })},
		{"report.running is -1: must be from 0 to 2147483647", report(func(w *dodoor.Report) { w.Running = ptr(int32(-1)) })},
		{"report.blocked_ms is 9223372036855: must be from 0 to 9223372036854",
			report(func(w *dodoor.Report) { w.BlockedMs = ptr(maxMillis + 1) })},
		{"report.received[0].received.demand is missing",
			report(func(w *dodoor.Report) { w.Received[0].Received.Demand = nil })},

		{`node.address is "10.0.0.1": must be host:port`, node(func(w *dodoor.Node) { w.Address = ptr("10.0.0.1") })},
		{`node.address is ":7001": must be host:port`, node(func(w *dodoor.Node) { w.Address = ptr(":7001") })},
		{`node.address is "a:0": must be host:port`, node(func(w *dodoor.Node) { w.Address = ptr("a:0") })},
		{`node.address is "a:65536": must be host:port`, node(func(w *dodoor.Node) { w.Address = ptr("a:65536") })},
		{"node.slots is 0: must be from 1 to 2147483647", node(func(w *dodoor.Node) { w.Slots = ptr(int32(0)) })},
		{"node.node_class is missing", node(func(w *dodoor.Node) { w.NodeClass = nil })},
		{"node.name has 257 bytes: at most 256 are allowed", node(func(w *dodoor.Node) { w.Name = ptr(strings.Repeat("n", 257)) })},
		{`node.name has a control character at byte 1: "a\nb"`, node(func(w *dodoor.Node) { w.Name = ptr("a\nb") })},
		{`node.name has a control character at byte 2: "é\u0085"`, node(func(w *dodoor.Node) { w.Name = ptr("é\u0085") })},
		{`node.name is not valid UTF-8: "a\xff"`, node(func(w *dodoor.Node) { w.Name = ptr("a\xff") })},

		{"completions[0].outcome is missing", completion(func(w *dodoor.Completion) { w.Outcome = nil })},
		{"completions[0].outcome has the unknown value 6: must be from 1 to 5",
			completion(func(w *dodoor.Completion) { w.Outcome = ptr(dodoor.Outcome(6)) })},
		{"completions[0].outcome has the unknown value 257: must be from 1 to 5",
			completion(func(w *dodoor.Completion) { w.Outcome = ptr(dodoor.Outcome(257)) })},
		{"completions[0].number is 0: must be positive", completion(func(w *dodoor.Completion) { w.Number = ptr(int64(0)) })},
		{"completions[0].run_us is -1: must be from 0 to 9223372036854775",
			completion(func(w *dodoor.Completion) { w.RunUs = ptr(int64(-1)) })},
		{"completions[0].reason has 4097 bytes: at most 4096 are allowed",
			completion(func(w *dodoor.Completion) { w.Reason = ptr(strings.Repeat("r", maxText+1)) })},
		{"completions[0].reason is not valid UTF-8", completion(func(w *dodoor.Completion) { w.Reason = ptr("\xff") })},

		{"max is -1: must be from 0 to 65536", collect(func(w *dodoor.CollectRequest) { w.Max = ptr(int32(-1)) })},
		{"wait_ms is 600001: must be from 0 to 600000", collect(func(w *dodoor.CollectRequest) { w.WaitMs = ptr(int32(600001)) })},
		{"client is missing", collect(func(w *dodoor.CollectRequest) { w.Client = nil })},

		{"base_version is 6: must be from 0 to 5", snapshot(func(w *dodoor.Snapshot) { w.BaseVersion = ptr(int64(6)) })},
		{"roster.version is 3: must be roster_version, 2", snapshot(func(w *dodoor.Snapshot) { w.Roster.Version = ptr(int64(3)) })},
		{"roster.nodes[1].capacity is missing", snapshot(func(w *dodoor.Snapshot) { w.Roster.Nodes[1].Capacity = nil })},
		{"tasks has 1 entries: must have 2, as node has", snapshot(func(w *dodoor.Snapshot) { w.Tasks = w.Tasks[:1] })},
		{"work has 0 entries: must have 2, as node has", snapshot(func(w *dodoor.Snapshot) { w.Work = nil })},
		{"millicores has 2 entries: must have 0, as node has", snapshot(func(w *dodoor.Snapshot) { w.Node = nil })},
		{"extra.gpu has 0 entries: must have 2, as node has", snapshot(func(w *dodoor.Snapshot) { delete(w.Extra, "gpu") })},
		{`extra names the unknown resource "tpu": this cluster has fpga, gpu`,
			snapshot(func(w *dodoor.Snapshot) { w.Extra["tpu"] = w.Extra["gpu"] })},
		{"node holds 2 in row 0: must be a roster index from 0 to 1", snapshot(func(w *dodoor.Snapshot) { w.Node[0] = 2 })},
		{"node holds -1 in row 1: must be a roster index from 0 to 2147483646",
			snapshot(func(w *dodoor.Snapshot) { w.Node[1] = -1; w.Roster = nil })},
		{"own_number holds -1 in row 1: must be at least 0", snapshot(func(w *dodoor.Snapshot) { w.OwnNumber[1] = -1 })},
		{"report_sequence holds -1 in row 0: must be at least 0", snapshot(func(w *dodoor.Snapshot) { w.ReportSequence[0] = -1 })},
	} {
		d := decoder{dims: dims}
		c.decode(&d)
		if d.err == nil || !strings.Contains(d.err.Error(), c.want) {
			t.Errorf("got error %v, want %q", d.err, c.want)
		}
		if d.err != nil && d.depth != 0 {
			t.Errorf("%s: path not left", c.want)
		}
	}
}
