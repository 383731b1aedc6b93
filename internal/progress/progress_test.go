package progress

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func TestBar(t *testing.T) {
	var b bytes.Buffer
	p := newBar(&b, 200)
	describe := func(perSecond float64) string { return fmt.Sprintf("%.0f/s, completed", perSecond) }
	p.Show(20, time.Second, describe)
	p.Show(21, time.Second+drawEvery/2, describe) // too soon
	p.Show(100, 3*time.Second, describe)
	for _, want := range []string{"20/s, completed", "(20/200)", "40/s", "(100/200)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %q", want, b.String())
		}
	}
	if strings.Contains(b.String(), "(21/200)") {
		t.Errorf("drawn more often than every %v: %q", drawEvery, b.String())
	}
	p.Finish()
}

// A line is as long as its terminal is wide, at most.
func TestNarrowTerminals(t *testing.T) {
	for _, columns := range []int{60, 80, 200, 0} {
		var b bytes.Buffer
		p := newBar(&b, 1_000_000)
		p.width = func() int { return columns }
		long := strings.Repeat("0123456789", 10)
		p.Show(1_000_000-1, time.Second, func(float64) string { return long })
		longest := 0
		for line := range strings.SplitSeq(b.String(), "\r") {
			longest = max(longest, utf8.RuneCountInString(line))
		}
		if columns > 0 && longest > columns || columns%200 == 0 && !strings.Contains(b.String(), long) {
			t.Errorf("%d columns: %d in %q", columns, longest, b.String())
		}
	}
}

// Nothing is drawn where nobody looks.
func TestSilentElsewhere(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range []*Line{New(nil, 10), New(file, 10)} {
		if p != nil {
			t.Error("there is a progress bar without a terminal")
		}
		p.Show(1, time.Second, func(float64) string { return "" })
		p.Finish()
	}
}

// Text comes a twentieth of the work apart, and at the end.
func TestText(t *testing.T) {
	var b bytes.Buffer
	l := NewText(&b, 100)
	for done := range 101 {
		l.Show(done, 0, func(float64) string { return fmt.Sprint("done ", done) })
	}
	l.Finish()
	if n := strings.Count(b.String(), "\n"); n < 15 || n > 25 || !strings.HasSuffix(b.String(), "done 100\n") {
		t.Errorf("%d lines:\n%s", n, &b)
	}
	NewText(nil, 1).Show(1, 0, nil)
}

// The rest goes on as what was done; of too little, nobody can tell.
func TestTimes(t *testing.T) {
	for _, c := range []struct {
		elapsed time.Duration
		share   float64
		want    string
	}{
		{time.Minute, 0.01, "1m0s elapsed"},
		{30 * time.Second, 1. / 3, "30s elapsed, about 1m0s remaining"},
		{70 * time.Second, 1, "1m10s elapsed, about 0s remaining"},
	} {
		if got := Times(c.elapsed, c.share); got != c.want {
			t.Errorf("%v, %v: %q, want %q", c.elapsed, c.share, got, c.want)
		}
	}
}

// Other lines have the terminal to themselves after the bar was cleared: it goes over the whole of it with blanks.
func TestClear(t *testing.T) {
	var drawn bytes.Buffer
	l := newBar(&drawn, 10)
	l.Show(5, time.Second, func(float64) string { return "half" })
	if !strings.Contains(drawn.String(), "half") {
		t.Fatalf("drew %q", drawn.String())
	}
	width := len([]rune(drawn.String()[strings.LastIndex(drawn.String(), "half"):]))
	drawn.Reset()
	l.Clear()
	if left := strings.Trim(drawn.String(), "\r "); left != "" && left != "\x1b[2K" || len(drawn.String()) < min(width, 4) {
		t.Errorf("cleared with %q", drawn.String())
	}
	(*Line)(nil).Clear()
}
