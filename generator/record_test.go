package generator

import (
	"bytes"
	"errors"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

func writeRows(t testing.TB, rows ...Row) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := NewRowWriter(&b)
	for i := range rows {
		if err == nil {
			err = w.Write(&rows[i])
		}
	}
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func readRows(text []byte) ([]Row, error) {
	r := NewRowReader(bytes.NewReader(text))
	var rows []Row
	for {
		var row Row
		switch err := r.Read(&row); err {
		case nil:
			rows = append(rows, row)
		case io.EOF:
			return rows, nil
		default:
			return rows, err
		}
	}
}

var someRow = Row{
	TaskID: "7", Type: "matmul", Mode: "short", Scheduler: "s0", Worker: "w12", Class: "c6620",
	Cores: 14000, Memory: 38, Estimate: 547,
	Scheduled: 1500 * time.Microsecond, Sent: 1500001 * time.Nanosecond, Received: 2 * time.Millisecond,
	Enqueued: 3 * time.Millisecond, Started: Never, Finished: Never, Completed: 4 * time.Millisecond,
	Attempts: 1, Outcome: cluster.Failed, ExitCode: -1, Warmup: true, ViewDecisions: 300,
	CPU: 1250 * time.Microsecond, PeakMemory: 40, Reason: `exit status 1: "no, thanks"`,
}

func TestRowsLookAsPublished(t *testing.T) {
	want := "task_id,type,mode,scheduler,worker,class,cores,memory_mb,estimate_ms,scheduled_ms,sent_ms,received_ms,enqueued_ms," +
		"started_ms,finished_ms,completed_ms,attempts,outcome,exit_code,warmup,view_decisions,cpu_ms,peak_memory_mb,startup_ms,reason\n" +
		`7,matmul,short,s0,w12,c6620,14,38,547,1.5,1.500001,2,3,,,4,1,failed,-1,1,300,1.25,40,0,"exit status 1: ""no, thanks"""` + "\n"
	if got := string(writeRows(t, someRow)); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestRowRoundTrip(t *testing.T) {
	word := rapid.StringMatching(`[ -~äß€]{0,12}`)
	amount := rapid.Int64Range(0, math.MaxInt64/16)
	moment := rapid.OneOf(rapid.Just(Never), rapid.Map(rapid.Int64Range(-1e15, 1e15), func(n int64) time.Duration { return time.Duration(n) }))
	rapid.Check(t, func(t *rapid.T) {
		want := Row{
			TaskID: word.Draw(t, "id"), Type: word.Draw(t, "type"), Mode: word.Draw(t, "mode"), Scheduler: word.Draw(t, "s"),
			Worker: word.Draw(t, "w"), Class: word.Draw(t, "class"), Cores: amount.Draw(t, "cores"), Memory: amount.Draw(t, "memory"),
			Estimate: amount.Draw(t, "estimate"), Scheduled: moment.Draw(t, "1"), Sent: moment.Draw(t, "2"), Received: moment.Draw(t, "3"),
			Enqueued: moment.Draw(t, "4"), Started: moment.Draw(t, "5"), Finished: moment.Draw(t, "6"), Completed: moment.Draw(t, "7"),
			Attempts: rapid.IntRange(0, 99).Draw(t, "attempts"), Outcome: cluster.Outcome(rapid.IntRange(1, 5).Draw(t, "outcome")),
			ExitCode: rapid.IntRange(-128, 255).Draw(t, "exit"), Warmup: rapid.Bool().Draw(t, "warmup"),
			ViewDecisions: amount.Draw(t, "view"), CPU: time.Duration(amount.Draw(t, "cpu")), PeakMemory: amount.Draw(t, "peak"),
			Reason: word.Draw(t, "reason"),
		}
		var b bytes.Buffer
		w, err := NewRowWriter(&b)
		if err != nil || w.Write(&want) != nil || w.Write(&want) != nil || w.Flush() != nil {
			t.Fatal("writing failed")
		}
		got, err := readRows(b.Bytes())
		if err != nil || !reflect.DeepEqual(got, []Row{want, want}) {
			t.Fatalf("wrote %+v\nread %+v, %v", want, got, err)
		}
	})
}

// A task's output must not break the file.
func TestReasonIsOneLineAndBounded(t *testing.T) {
	row := someRow
	row.Reason = "first\r\nsecond\x00\xff" + strings.Repeat("é\"", 1<<20)
	got, err := readRows(writeRows(t, row))
	if err != nil || len(got) != 1 {
		t.Fatalf("got %d rows, %v", len(got), err)
	}
	if r := got[0].Reason; !strings.HasPrefix(r, "first  second ?é\"") || len(r) > 4<<10 {
		t.Errorf("got %d bytes: %s", len(r), shorten(r))
	}
}

func TestRowReaderIsStrict(t *testing.T) {
	good := string(writeRows(t, someRow))
	header, line, _ := strings.Cut(good, "\n")
	change := func(from, to string) string {
		if !strings.Contains(good, from) {
			t.Fatalf("%q is not in the file", from)
		}
		return strings.Replace(good, from, to, 1)
	}
	for name, c := range map[string]struct{ text, want string }{
		"empty":             {"", "not even a header"},
		"cut off":           {strings.TrimSuffix(good, "\n"), "cut off"},
		"cut header":        {"task_id,ty", "cut off"},
		"missing column":    {change("memory_mb,", ""), "line 1: the header must have memory_mb as column 8"},
		"another column":    {header + ",mood\n" + line, `line 1: unknown column "mood"`},
		"short line":        {header + "\n7,matmul\n", "line 2: has 2 fields instead of 25"},
		"word for number":   {change(",38,", ",lots,"), `column memory_mb: "lots" is not a plain`},
		"negative memory":   {change(",38,", ",-38,"), `column memory_mb: "-38" is below 0`},
		"too fine":          {change("1.500001", "1.5000001"), `column sent_ms: "1.5000001" has more than 6 decimals`},
		"NaN":               {change("1.500001", "NaN"), `column sent_ms: "NaN" is not`},
		"unknown outcome":   {change("failed", "perished"), `column outcome: "perished" is not an outcome: finished,`},
		"no outcome":        {change("failed", ""), `column outcome: "" is not`},
		"warm-up":           {change(",1,300", ",yes,300"), `column warmup: "yes" must be 0 or 1`},
		"control in a cell": {change("matmul", "mat\x01mul"), `column type: "mat\x01mul" must be UTF-8`},
	} {
		_, err := readRows([]byte(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", name, err, c.want)
		}
	}
	if _, err := readRows([]byte(strings.TrimSuffix(good, "\n"))); !errors.Is(err, ErrTruncated) {
		t.Errorf("a cut file gives %v", err)
	}
}

func FuzzReadRows(f *testing.F) {
	f.Add(writeRows(f, someRow, Row{Outcome: cluster.Lost, Sent: Never}))
	f.Fuzz(func(t *testing.T, text []byte) {
		rows, err := readRows(text)
		if err != nil {
			return
		}
		for i := range rows {
			if len(rows[i].Reason) > 4<<10 {
				return // longer texts are not written in full
			}
		}
		again, err := readRows(writeRows(t, rows...))
		if err != nil || !reflect.DeepEqual(rows, again) {
			t.Fatalf("read %+v, then %+v, %v", rows, again, err)
		}
	})
}

func TestNodeSamplesRoundTrip(t *testing.T) {
	want := NodeSample{Time: 1500 * time.Millisecond, Worker: "w1", Class: "m510", Cores: 2500, Memory: 64, Queued: 3, Running: 2}
	var b bytes.Buffer
	w, err := NewNodeWriter(&b)
	if err != nil || w.Write(&want) != nil || w.Flush() != nil {
		t.Fatal("writing failed")
	}
	if text := "time_ms,worker,class,used_cores,used_memory_mb,queued,running\n1500,w1,m510,2.5,64,3,2\n"; b.String() != text {
		t.Errorf("got %q", b.String())
	}
	r := newReader(&b, nodeColumns)
	var got NodeSample
	if err := r.Read(&got); err != nil || got != want {
		t.Errorf("got %+v, %v", got, err)
	}
	if err := r.Read(&got); err != io.EOF {
		t.Errorf("after the last row: %v", err)
	}
}
