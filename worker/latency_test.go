package worker

import (
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestMedianAtTheNearestRIF(t *testing.T) {
	var l latencies
	expect(t, "nothing known", l.median(3), time.Duration(-1))
	for _, d := range []time.Duration{5, 1, 9} {
		l.add(2, d)
	}
	l.add(6, 100)
	l.add(6, 200)
	for rif, want := range map[int64]time.Duration{0: 5, 2: 5, 3: 5, 4: 9, 5: 100, 6: 100, 1000: 100} {
		expect(t, "median", l.median(rif), want)
	}
}

func TestOnlyRecentLatenciesCount(t *testing.T) {
	var l latencies
	for range 1000 {
		l.add(0, 1000)
	}
	for range recentLatencies {
		l.add(0, 7)
	}
	expect(t, "median", l.median(0), time.Duration(7))
}

func TestBucketsCoverEveryRIFInOrder(t *testing.T) {
	last := -1
	for rif := range int64(5000) {
		b := bucket(rif)
		if b < last || b > last+1 {
			t.Fatalf("bucket(%d) = %d after %d", rif, b, last)
		}
		last = b
	}
	expect(t, "largest", bucket(math.MaxInt64), exactRIFs+8*(63-5)-1)
}

// The median is checked against sorting everything that was observed, kept per exact RIF.
func TestMedianAgainstSorting(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l latencies
		seen := map[int64][]time.Duration{}
		for range rapid.IntRange(0, 100).Draw(t, "n") {
			rif, d := rapid.Int64Range(0, exactRIFs-1).Draw(t, "rif"), time.Duration(rapid.IntRange(0, 50).Draw(t, "d"))
			l.add(rif, d)
			seen[rif] = append(seen[rif], d)
		}
		at := rapid.Int64Range(0, exactRIFs-1).Draw(t, "at")
		want := time.Duration(-1)
		for distance := range int64(exactRIFs) {
			var near []time.Duration
			for rif, all := range seen {
				if rif-at == distance || at-rif == distance {
					near = append(near, all[max(0, len(all)-recentLatencies):]...)
				}
			}
			if len(near) > 0 {
				slices.Sort(near)
				want = near[(len(near)-1)/2]
				break
			}
		}
		if got := l.median(at); got != want {
			t.Fatalf("median(%d) = %v, want %v of %v", at, got, want, seen)
		}
	})
}
