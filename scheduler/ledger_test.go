package scheduler

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// A ledger is a sorted map, whatever the order in which tasks come: nothing is missing, nothing is there twice, and every
// block knows how many of its tasks ended otherwise than well.
func TestLedgerIsASortedMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l ledger
		want := map[int64]cluster.Outcome{}
		next := int64(0)
		for range rapid.IntRange(1, 12).Draw(t, "runs") {
			if rapid.Bool().Draw(t, "elsewhere") {
				next = rapid.Int64Range(0, 4000).Draw(t, "from")
			}
			step := rapid.SampledFrom([]int64{1, 1, 2, -1}).Draw(t, "step")
			for range rapid.IntRange(1, 3*blockSize).Draw(t, "tasks") {
				if _, there := want[next]; next >= 0 && !there {
					l.insert(next)
					want[next] = cluster.NoOutcome
				}
				next += step
			}
		}
		indices := slices.Sorted(maps.Keys(want))
		for _, index := range rapid.SliceOf(rapid.SampledFrom(indices)).Draw(t, "change") {
			want[index] = cluster.Outcome(rapid.IntRange(0, int(cluster.Lost)).Draw(t, "outcome"))
			l.set(entry{index: index, outcome: want[index]})
		}
		from := rapid.Int64Range(0, 5000).Draw(t, "read from")
		for _, badOnly := range []bool{false, true} {
			var got []int64
			l.from(from, badOnly, func(e *entry) bool {
				got = append(got, e.index)
				return e.outcome == want[e.index]
			})
			expected := slices.DeleteFunc(slices.Clone(indices), func(i int64) bool { return i < from || badOnly && want[i] <= cluster.Finished })
			if !slices.Equal(got, expected) {
				t.Fatalf("from %d, unsuccessful alone %v: %d entries, want %d", from, badOnly, len(got), len(expected))
			}
		}
		checkBlocks(t, &l, len(want))
	})
}

func checkBlocks(t *rapid.T, l *ledger, want int) {
	n := 0
	for _, b := range l.blocks {
		bad := 0
		for i := range b.entries {
			if b.entries[i].bad() {
				bad++
			}
		}
		if bad != b.bad || len(b.entries) == 0 || len(b.entries) > blockSize {
			t.Fatalf("a block of %d counts %d bad ones, and has %d", len(b.entries), b.bad, bad)
		}
		n += len(b.entries)
	}
	if _, e := l.find(-1); n != want || l.n != want || e != nil {
		t.Fatalf("%d entries, counted %d, want %d", n, l.n, want)
	}
}
