package drive

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"
)

func TestProgressBar(t *testing.T) {
	var b bytes.Buffer
	p := newBar(&b, 200)
	p.show(30, 20, time.Second, 1500*time.Microsecond)
	p.show(31, 21, time.Second+drawEvery/2, 0) // too soon
	p.show(120, 100, 3*time.Second, 0)
	for _, want := range []string{"submitted 30, 20/s, 1.5 ms late, completed", "(20/200)", "submitted 120, 40/s", "(100/200)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %q", want, b.String())
		}
	}
	if strings.Contains(b.String(), "(21/200)") {
		t.Errorf("drawn more often than every %v: %q", drawEvery, b.String())
	}
	p.finish()
}

// Nothing is drawn where nobody looks.
func TestProgressIsSilentElsewhere(t *testing.T) {
	file, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, p := range []*progress{newProgress(nil, 10), newProgress(file, 10)} {
		if p != nil {
			t.Error("there is a progress bar without a terminal")
		}
		p.show(1, 1, time.Second, 0)
		p.finish()
	}
}
