package drive

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestProgressBar(t *testing.T) {
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

// Nothing is drawn where nobody looks.
func TestProgressIsSilentElsewhere(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range []*Progress{NewProgress(nil, 10), NewProgress(file, 10)} {
		if p != nil {
			t.Error("there is a progress bar without a terminal")
		}
		p.Show(1, time.Second, func(float64) string { return "" })
		p.Finish()
	}
}
