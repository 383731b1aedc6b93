package poll

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Every neither begins at once nor goes on after the end.
func TestEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3500*time.Millisecond)
		defer cancel()
		begin := time.Now()
		var at []time.Duration
		Every(ctx, time.Second, func() { at = append(at, time.Since(begin)) })
		if len(at) != 3 || at[0] != time.Second || at[2] != 3*time.Second || time.Since(begin) != 3500*time.Millisecond {
			t.Errorf("called at %v, ended after %v", at, time.Since(begin))
		}
	})
}

// Until asks at once, and is false when the time was up first.
func TestUntil(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for want, c := range map[bool]struct{ after, takes time.Duration }{
			true: {2 * time.Second, 2 * time.Second}, false: {time.Hour, 5 * time.Second},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			begin, asked := time.Now(), 0
			got := Until(ctx, time.Second, func() bool { asked++; return time.Since(begin) >= c.after })
			if got != want || time.Since(begin) != c.takes || asked < 3 {
				t.Errorf("done after %v: %t after %v, asked %d times", c.after, got, time.Since(begin), asked)
			}
			cancel()
		}
		if begin := time.Now(); !Until(t.Context(), time.Second, func() bool { return true }) || time.Since(begin) != 0 {
			t.Error("what is done is waited for")
		}
	})
}
