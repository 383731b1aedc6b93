package generator

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// What follows the places that are kept is rounded, half away from zero, and has to be digits as well.
func TestDecimalsBeyondThePlaces(t *testing.T) {
	for s, want := range map[string]int64{"0.0005": 1, "0.00049": 0, "-0.0005": -1, "-0.00049": 0, "1.9995": 2000, "1.0004999": 1000} {
		if v, exact, problem := parseDecimal(s, milliPlaces); v != want || exact || problem != "" {
			t.Errorf("%s: %d, exact %v, %q; want %d", s, v, exact, problem, want)
		}
	}
	for _, s := range []string{"1.0000x", "1.0000/", "1.0000:", "1.000 ", "1.0005-"} {
		if _, _, problem := parseDecimal(s, milliPlaces); problem == "" {
			t.Errorf("%q is taken for a number", s)
		}
	}
}

// A client's line needs no more memory than a few times what waits in it, however long it is in use.
func TestTheClientsLineStaysShort(t *testing.T) {
	for _, waiting := range []int{1, 10} {
		var l line
		for i := range int32(10_000) {
			l.push(i)
			if l.len() > waiting-1 {
				if want := i - int32(waiting) + 1; l.head() != want {
					t.Fatalf("%d is the first, want %d", l.head(), want)
				}
				l.pop()
			}
		}
		if cap(l.tasks) > 64 {
			t.Errorf("room for %d, and at most %d waited", cap(l.tasks), waiting)
		}
	}
}

// A value in an error is cut after sixty bytes.
func TestShorten(t *testing.T) {
	for n, want := range map[int]int{59: 59, 60: 60, 61: 63, 1000: 63} {
		if got := shorten(strings.Repeat("x", n)); len(got) != want || strings.HasSuffix(got, "...") != (n > 60) {
			t.Errorf("%d bytes become %d: %s", n, len(got), got)
		}
	}
}

// A line may be as long as the bound, and a word too; what is longer is refused.
func TestTheLongestLines(t *testing.T) {
	row := func(id string, fill int) string { return id + ",1,1,0,1,0,simulated," + strings.Repeat("m", fill) }
	read := func(text string) error {
		_, err := ReadTrace(strings.NewReader(text), cluster.Standard(), 0)
		return err
	}
	if err := read(row(strings.Repeat("i", maxWord), maxWord)); err != nil {
		t.Errorf("words of %d bytes: %v", maxWord, err)
	}
	for _, text := range []string{row(strings.Repeat("i", maxWord+1), 1), row("i", maxWord+1)} {
		if err := read(text); err == nil || !strings.Contains(err.Error(), "longer than 256 bytes") {
			t.Errorf("a longer word: %v", err)
		}
	}
	for _, end := range []string{"\n", "\r\n", ""} {
		for extra, ok := range map[int]bool{0: true, 1: false} {
			text := row("i", 1)
			text += strings.Repeat(" ", MaxLine-len(text)+extra) + end
			if err := read(text); (err == nil) != ok {
				t.Errorf("%d bytes beyond the longest line, end %q: %v", extra, end, err)
			}
		}
	}
}

// Errors count fields and columns from one.
func TestErrorsCountFromOne(t *testing.T) {
	if _, problem := splitFields(nil, `a,b"c`); !strings.HasPrefix(problem, "field 2 has a quote") {
		t.Errorf("%q, want field 2", problem)
	}
	_, err := ReadTrace(strings.NewReader("a,1,1,0,1,0,simulated,short\nb,1,1,0,1,0,simulated"), cluster.Standard(), 0)
	if err == nil || !strings.Contains(err.Error(), "line 2: has 7 fields instead of 8 (id,cores,") {
		t.Errorf("%v, want line 2", err)
	}
	var row Row
	err = NewRowReader(strings.NewReader("task_id,what\n")).Read(&row)
	if err == nil || !strings.Contains(err.Error(), "type as column 2") {
		t.Errorf("%v, want column 2", err)
	}
	var b bytes.Buffer
	w, err := NewRowWriter(&b)
	if err != nil || w.Flush() != nil {
		t.Fatal(err)
	}
	header := strings.TrimSuffix(b.String(), "\n")
	err = NewRowReader(strings.NewReader(header + ",more\n")).Read(&row)
	if err == nil || !strings.Contains(err.Error(), `unknown column "more"`) {
		t.Errorf("%v, want the column that is one too many", err)
	}
	if err = NewRowReader(strings.NewReader(header[:len(header)-7] + "\n")).Read(&row); err == nil ||
		!strings.Contains(err.Error(), "reason as column 25") {
		t.Errorf("%v, want the column that is missing", err)
	}
}

// Texts are cut after four KiB, and the rows stay readable.
func TestLongTextsAreCut(t *testing.T) {
	for n, want := range map[int]int{4095: 4095, 4096: 4096, 4097: 4096} {
		var b bytes.Buffer
		w, err := NewRowWriter(&b)
		if err != nil {
			t.Fatal(err)
		}
		row := Row{TaskID: "a", Reason: strings.Repeat("r", n), Outcome: cluster.Failed, Sent: Never, Received: Never, Enqueued: Never,
			Started: Never, Finished: Never, Completed: Never}
		if err := w.Write(&row); err != nil {
			t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			t.Fatal(err)
		}
		var again Row
		if err := NewRowReader(&b).Read(&again); err != nil || len(again.Reason) != want {
			t.Errorf("%d bytes: %d come back, %v", n, len(again.Reason), err)
		}
	}
}

// The number of requests has bounds, which are allowed.
func TestCounts(t *testing.T) {
	for n, ok := range map[int]bool{0: false, 1: true, maxRequests: true, maxRequests + 1: false} {
		if err := CheckCount(n); (err == nil) != ok {
			t.Errorf("%d requests: %v", n, err)
		}
	}
	for s, want := range map[string]string{"0/30/70": "[{medium 3e+07} {long 7e+07}]", "1/0/0": "[{short 1e+06}]", "0/0/0": "", "1/2": "",
		"1/-1/2": "", "1/x/2": ""} {
		mix, err := ParseMix(s)
		if (err == nil) != (want != "") || err == nil && fmt.Sprint(mix) != want {
			t.Errorf("%s: %v, %v; want %s", s, mix, err, want)
		}
	}
}

// A control character makes a text unprintable wherever it stands.
func TestPrintable(t *testing.T) {
	for s, want := range map[string]bool{"": true, "a b": true, "\x01a": false, "a\x01": false, "a\nb": false, "\xff": false} {
		if printable(s) != want {
			t.Errorf("%q is printable: %v", s, !want)
		}
	}
}
