package client

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// printed is what a terminal shows of tasks that end in an order.
func printed(t *testing.T, w *fakeWorker, order []int, ordered bool, tag func(int64) string) (out, err string, troubles []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	p := of().with(w).NewPrinter(t.Context(), &Terminal{Out: &stdout, Err: &stderr, Tag: tag}, ordered,
		func(p *Printed, err error) { troubles = append(troubles, p.TaskID+": "+err.Error()) },
		func(err error) { t.Error(err) })
	for _, i := range order {
		id := fmt.Sprint(i)
		both, known := w.outputs[id]
		bytes := int64(len(both[0]) + len(both[1]) + w.lost[id])
		if !known {
			bytes = 1
		}
		p.Add(&Printed{Position: int64(i), Output: Output{Worker: "w", TaskID: id}, Bytes: bytes})
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	return stdout.String(), stderr.String(), troubles
}

// Outputs come whole, byte by byte, as tasks end or in the order of the list; a task that printed nothing is not asked for.
func TestOutputsAreNotInterleaved(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := &fakeWorker{outputs: map[string][2]string{}}
		n := rapid.IntRange(1, 40).Draw(r, "tasks")
		order := make([]int, n)
		asks := 0
		for i := range n {
			order[i] = i
			size := rapid.SampledFrom([]int{0, 0, 1, 100, aheadBytes, aheadBytes + 1, rangeBytes + aheadBytes + 7})
			text := func(what string) string {
				return strings.Repeat(string([]byte{byte('a' + i), '\n', 0xff}), size.Draw(r, what)/3)
			}
			w.outputs[fmt.Sprint(i)] = [2]string{text("out"), text("err")}
			if w.outputs[fmt.Sprint(i)] != [2]string{} {
				asks++
			}
		}
		order = rapid.Permutation(order).Draw(r, "order")
		ordered := rapid.Bool().Draw(r, "ordered")
		out, errs, troubles := printed(t, w, order, ordered, nil)
		var wantOut, wantErr strings.Builder
		for k := range n {
			i := order[k]
			if ordered {
				i = k
			}
			wantOut.WriteString(w.outputs[fmt.Sprint(i)][0])
			wantErr.WriteString(w.outputs[fmt.Sprint(i)][1])
		}
		if out != wantOut.String() || errs != wantErr.String() || len(troubles) > 0 {
			r.Fatalf("%d and %d bytes, want %d and %d; %v", len(out), len(errs), wantOut.Len(), wantErr.Len(), troubles)
		}
		if w.largest > 1<<20 || asks == 0 && w.asked > 0 {
			r.Fatalf("asked for %d bytes at a time, %d times", w.largest, w.asked)
		}
	})
}

// In order, nobody waits for one that never ends: in the end what there is comes in order.
func TestGapsInTheOrder(t *testing.T) {
	w := &fakeWorker{outputs: map[string][2]string{"1": {"b"}, "3": {"d"}, "4": {"e"}}}
	if out, _, _ := printed(t, w, []int{4, 3, 1}, true, nil); out != "bde" {
		t.Errorf("%q", out)
	}
}

func TestTags(t *testing.T) {
	w := &fakeWorker{outputs: map[string][2]string{"0": {"a\nb", "e"}, "1": {"\n\nc\n"}, "2": {strings.Repeat("x", aheadBytes+5)}}}
	out, errs, _ := printed(t, w, []int{0, 1, 2}, true, func(i int64) string { return fmt.Sprintf("t%d", i) })
	if want := "t0\ta\nt0\tb\nt1\t\nt1\t\nt1\tc\nt2\t" + w.outputs["2"][0] + "\n"; out != want || errs != "t0\te\n" {
		t.Errorf("%.60q, %q", out, errs)
	}
}

// What cannot be read is said, exactly, and the others are printed.
func TestLostOutputs(t *testing.T) {
	w := &fakeWorker{outputs: map[string][2]string{"0": {"a"}, "2": {"c"}}, lost: map[string]int{"2": 9}}
	out, _, troubles := printed(t, w, []int{0, 1, 2}, true, nil)
	if out != "ac" || len(troubles) != 2 || troubles[0] != "1: its output on worker w: unknown task: no output of 1" ||
		troubles[1] != "2: output is not complete: 1 of 10 bytes were kept: the disk was full" {
		t.Errorf("%q, %q", out, troubles)
	}
	w.away = true
	if _, _, troubles = printed(t, w, []int{0}, false, nil); len(troubles) != 1 ||
		troubles[0] != "0: its output is on worker w, which does not answer (nobody there): it can be read again when that is back" {
		t.Errorf("%q", troubles)
	}
	c := of().with(w)
	if _, err := c.worker(t.Context(), "gone"); err == nil ||
		err.Error() != "its output is on worker gone, which is away: it can be read again when that is back" {
		t.Error(err)
	}
}

// A folder has files for what was printed, and none for what was not.
func TestFolders(t *testing.T) {
	w := &fakeWorker{outputs: map[string][2]string{"0": {"a", "e"}, "1": {}, "2": {"c", ""}}}
	folder, err := NewFolder(filepath.Join(t.TempDir(), "below", "there"), func(i int64) int64 { return i + 1 })
	if err != nil {
		t.Fatal(err)
	}
	p := of().with(w).NewPrinter(t.Context(), folder, false, func(_ *Printed, err error) { t.Error(err) }, func(err error) { t.Error(err) })
	for id, both := range w.outputs {
		p.Add(&Printed{Position: int64(id[0] - '0'), Output: Output{Worker: "w", TaskID: id}, Bytes: int64(len(both[0] + both[1]))})
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	var names []string
	files, _ := os.ReadDir(folder.Path)
	for _, f := range files {
		text, _ := os.ReadFile(filepath.Join(folder.Path, f.Name()))
		names = append(names, f.Name()+"="+string(text))
	}
	if got := strings.Join(names, " "); got != "1.err=e 1.out=a 3.out=c" {
		t.Error(got)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Who cannot write any more says so once, and whoever adds tasks does not wait for it.
func TestBrokenSinks(t *testing.T) {
	w := &fakeWorker{outputs: map[string][2]string{"0": {"a"}}}
	broken := 0
	p := of().with(w).NewPrinter(t.Context(), &Terminal{Out: full{}, Err: full{}}, false, func(*Printed, error) {}, func(error) { broken++ })
	for range 100 {
		p.Add(&Printed{Output: Output{Worker: "w", TaskID: "0"}, Bytes: 1})
	}
	if err := p.Close(); !errors.Is(err, syscall.ENOSPC) || broken != 1 {
		t.Errorf("%v, said %d times", err, broken)
	}
}
