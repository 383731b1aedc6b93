package cluster

import (
	"testing"
	"time"
)

func TestBackoff(t *testing.T) {
	var b Backoff
	for range 2 { // the second time after a success
		for i, want := range []time.Duration{10, 20, 40, 80, 160, 320, 640, 1000, 1000} {
			if got := b.Next(); got != want*time.Millisecond {
				t.Errorf("pause %d is %v, want %v", i+1, got, want*time.Millisecond)
			}
		}
		b.Reset()
	}
}
