package keeper

import (
	"os"
	"syscall"
	"testing"

	"pgregory.net/rapid"
)

// Of every signal as many are passed on as the one who got more of them has got, in whatever order they come.
func TestSignalsCountOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ends := 0
		a := &arrivals{listeners: map[chan<- os.Signal][]os.Signal{}, byDefault: func(syscall.Signal) { ends++ }}
		heard := make(chan os.Signal, 100)
		a.listeners[heard] = []os.Signal{syscall.SIGINT, syscall.SIGTERM}
		counts := map[syscall.Signal][2]int{}
		for range rapid.IntRange(0, 40).Draw(t, "n") {
			s := rapid.SampledFrom([]syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGQUIT}).Draw(t, "signal")
			by := rapid.IntRange(byKernel, byKeeper).Draw(t, "by")
			a.arrive(by, s)
			n := counts[s]
			n[by]++
			counts[s] = n
		}
		most := func(s syscall.Signal) int { return max(counts[s][0], counts[s][1]) }
		if got, want := len(heard), most(syscall.SIGINT)+most(syscall.SIGTERM); got != want {
			t.Fatalf("heard %d, want %d of %v", got, want, counts)
		}
		if want := most(syscall.SIGQUIT); ends != want {
			t.Fatalf("%d that nobody listens to, want %d", ends, want)
		}
	})
}
