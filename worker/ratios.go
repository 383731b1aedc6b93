package worker

import (
	"cmp"
	"slices"
	"strings"
)

// ratios are how many times their estimates the newest tasks ran.
type ratios struct {
	newest [seenRatios]ratio
	count  int // ever seen

	sorted bool // what follows is of the newest
	alike  [seenRatios]ratio
	after  [seenRatios]int // of the first of a kind: where the next kind begins
	all    [seenRatios]float64
}

// ratio is how many times its estimate a task ran.
type ratio struct {
	kind  kind
	times float64
}

// kind is what tasks have in common whose estimates are wrong alike.
type kind struct{ program, mode string }

const (
	seenRatios  = 64 // the newest are kept
	enoughAlike = 8  // of one kind speak for it alone
)

func (s *ratios) add(k kind, times float64) {
	s.newest[s.count%seenRatios] = ratio{k, times}
	s.count++
	s.sorted = false
}

// longer returns the median of the ratios above one that a task has, of its kind if there are enough; not, if there is none.
func (s *ratios) longer(k kind, has float64) (median float64, some bool) {
	n := min(s.count, seenRatios)
	s.sort(n)
	first, found := slices.BinarySearchFunc(s.alike[:n], k, func(r ratio, k kind) int { return compare(r.kind, k) })
	if found && s.after[first]-first >= enoughAlike {
		same := s.alike[first:s.after[first]]
		at, _ := slices.BinarySearchFunc(same, has, above)
		if same = same[at:]; len(same) == 0 {
			return 0, false
		}
		return same[(len(same)-1)/2].times, true
	}
	at, _ := slices.BinarySearchFunc(s.all[:n], has, aboveAll)
	if at == n {
		return 0, false
	}
	return s.all[at:n][(n-at-1)/2], true
}

// sort is done once for as many questions as there are between two ends.
func (s *ratios) sort(n int) {
	if s.sorted {
		return
	}
	s.sorted, s.alike = true, s.newest
	slices.SortFunc(s.alike[:n], func(a, b ratio) int {
		if c := compare(a.kind, b.kind); c != 0 {
			return c
		}
		return cmp.Compare(a.times, b.times)
	})
	first := 0
	for i, r := range s.alike[:n] {
		if r.kind != s.alike[first].kind {
			first = i
		}
		s.all[i], s.after[first] = r.times, i+1
	}
	slices.Sort(s.all[:n])
}

func compare(a, b kind) int {
	if c := strings.Compare(a.program, b.program); c != 0 {
		return c
	}
	return strings.Compare(a.mode, b.mode)
}

// above and aboveAll put a binary search behind what is equal.
func above(r ratio, has float64) int { return aboveAll(r.times, has) }

func aboveAll(times, has float64) int {
	if times > has {
		return 1
	}
	return -1
}
