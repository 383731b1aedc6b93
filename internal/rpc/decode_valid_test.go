package rpc

import (
	"math"
	"strings"
	"testing"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// TestValidMessagesAreValid: without it, the test above could pass because of another field.
func TestValidMessagesAreValid(t *testing.T) {
	d := decoder{dims: dims}
	d.enqueue(validEnqueue())
	d.snapshot(validSnapshot())
	d.report("report", encoder{dims}.report(&validReport))
	d.node("node", -1, encoder{dims}.node(ptr(validNode)))
	d.submit(&dodoor.SubmitRequest{Client: ptr("c"), Tasks: []*dodoor.TaskSpec{validTask()}})
	if d.err != nil {
		t.Fatal(d.err)
	}
}

// TestStandardDimensionsHaveNoExtras: the error for an extra resource says so.
func TestStandardDimensionsHaveNoExtras(t *testing.T) {
	d := decoder{dims: cluster.Standard()}
	d.amounts("demand", &dodoor.Amounts{Millicores: ptr(int64(1)), MemoryMib: ptr(int64(1)), Extra: map[string]int64{"gpu": 1}}, amount)
	want := `demand.extra names the unknown resource "gpu": this cluster has none`
	if d.err == nil || d.err.Error() != want {
		t.Errorf("got error %v, want %q", d.err, want)
	}
}

// TestInvalidTasksAreRefusedAlone: one bad task does not keep the others of its message from being
// submitted, unless it has no id that a refusal could name.
func TestInvalidTasksAreRefusedAlone(t *testing.T) {
	spoilers := map[string]func(*dodoor.TaskSpec){
		"tasks[1].task_type is missing":                                     func(w *dodoor.TaskSpec) { w.TaskType = nil },
		"tasks[1].demand.millicores is -1: must be from 0 to 1099511627776": func(w *dodoor.TaskSpec) { w.Demand.Millicores = ptr(int64(-1)) },
		"tasks[1].duration_ms is -1: must be from 0 to 31536000000":         func(w *dodoor.TaskSpec) { w.DurationMs = ptr(int64(-1)) },
		"tasks[1].time_scale is NaN: must be from 1 to 1e+06":               func(w *dodoor.TaskSpec) { w.TimeScale = ptr(math.NaN()) },
		"tasks[1].time_scale is +Inf: must be from 1 to 1e+06":              func(w *dodoor.TaskSpec) { w.TimeScale = ptr(math.Inf(1)) },
		"tasks[1].time_scale is 0.5: must be from 1 to 1e+06":               func(w *dodoor.TaskSpec) { w.TimeScale = ptr(0.5) },
		"tasks[1].time_scale is -1: must be from 1 to 1e+06":                func(w *dodoor.TaskSpec) { w.TimeScale = ptr(-1.0) },
		"tasks[1].time_scale is 1.000001e+06: must be from 1 to 1e+06":      func(w *dodoor.TaskSpec) { w.TimeScale = ptr(1000001.0) },
	}
	for want, spoil := range spoilers {
		bad := validTask()
		bad.ID = ptr("bad")
		spoil(bad)
		d := decoder{dims: dims}
		r, refused := d.submit(&dodoor.SubmitRequest{Client: ptr("c"), Tasks: []*dodoor.TaskSpec{validTask(), bad, validTask()}})
		switch {
		case d.err != nil:
			t.Errorf("%s: the message failed: %v", want, d.err)
		case len(r.Tasks) != 2 || len(refused) != 1:
			t.Errorf("%s: %d tasks taken, %d refused; want 2 and 1", want, len(r.Tasks), len(refused))
		case refused[0] != cluster.Refusal{TaskID: "bad", Code: cluster.InvalidTask, Message: want}:
			t.Errorf("got refusal %+v, want %q", refused[0], want)
		}
	}
	for _, id := range []*string{nil, ptr(""), ptr("a\x00b")} {
		bad := validTask()
		bad.ID = id
		d := decoder{dims: dims}
		d.submit(&dodoor.SubmitRequest{Client: ptr("c"), Tasks: []*dodoor.TaskSpec{validTask(), bad}})
		if d.err == nil || !strings.HasPrefix(d.err.Error(), "tasks[1].id ") {
			t.Errorf("id %v: got error %v", id, d.err)
		}
	}
}

// TestAbsentFigures: what a task does not say is not made up.
func TestAbsentFigures(t *testing.T) {
	d := decoder{dims: dims}
	r, _ := d.submit(&dodoor.SubmitRequest{Client: ptr("c"), Tasks: []*dodoor.TaskSpec{{ID: ptr("t"), TaskType: ptr("matmul")}}})
	want := cluster.TaskSpec{ID: "t", Type: "matmul", TimeScale: 1}
	if d.err != nil || len(r.Tasks) != 1 || r.Tasks[0] != want {
		t.Errorf("got %+v, %v; want %+v", r.Tasks, d.err, want)
	}
}

// TestCodesMatchTheWire: the codes of package cluster are those of the IDL, by name.
func TestCodesMatchTheWire(t *testing.T) {
	match := func(ours, wire string) {
		t.Helper()
		if got := strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(ours)); got != wire {
			t.Errorf("%q is %q on the wire", ours, wire)
		}
	}
	for c := cluster.Invalid; c <= cluster.Denied; c++ {
		match(c.String(), dodoor.ErrorCode(c).String())
	}
	for o := cluster.Finished; o <= cluster.Lost; o++ {
		match(o.String(), dodoor.Outcome(o).String())
	}
	for p := cluster.Placing; p <= cluster.Ended; p++ {
		match(p.String(), dodoor.Phase(p).String())
	}
	for c := cluster.NoFeasibleNode; c <= cluster.NotAllowed; c++ {
		match(strings.Replace(c.String(), "task type", "type", 1), dodoor.RefusalCode(c).String())
	}
	const unset = "<UNSET>"
	for _, beyond := range []string{dodoor.ErrorCode(cluster.Denied + 1).String(), dodoor.Outcome(cluster.Lost + 1).String(),
		dodoor.Phase(cluster.Ended + 1).String(), dodoor.RefusalCode(cluster.NotAllowed + 1).String()} {
		if beyond != unset {
			t.Errorf("the IDL has %s, package cluster does not", beyond)
		}
	}
}

// TestTextFitsOnArrival: whatever a program printed becomes a reason that the receiver accepts.
func TestTextFitsOnArrival(t *testing.T) {
	for _, s := range []string{"", "plain", "a\xffb", strings.Repeat("é", maxText), strings.Repeat("x", maxText+1),
		strings.Repeat("\xff", maxText)} {
		d := decoder{}
		got := d.text("reason", text(s))
		if d.err != nil {
			t.Errorf("%.20q: %v", s, d.err)
		}
		if len(s) <= maxText && strings.ToValidUTF8(s, "") == s && got != s {
			t.Errorf("%.20q became %.20q", s, got)
		}
		if len(s) > maxText && !strings.HasSuffix(got, cut) {
			t.Errorf("%.20q: nothing says that it was cut", s)
		}
	}
}
