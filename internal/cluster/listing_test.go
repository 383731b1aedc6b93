package cluster

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

type listed struct{ id string }

func newListed() Listing[listed] { return NewListing(func(v *listed) string { return v.id }) }

// Whoever reads page by page sees everything exactly once that is there from the first page to the last, and nothing that was
// not there at all, whatever comes and goes between two pages: also what the next page is asked behind.
func TestPagesTellWhatStaysOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, there := newListed(), map[string]*listed{}
		var stays []string
		turn := func() {
			id := fmt.Sprint("t", rapid.IntRange(0, 5000).Draw(t, "id"))
			switch v := there[id]; {
			case v == nil:
				there[id] = &listed{id}
				l.Add(there[id])
			case !slices.Contains(stays, id):
				l.Remove(v)
				delete(there, id)
			}
		}
		for i := range rapid.SampledFrom([]int{0, 1, 40, 3000}).Draw(t, "from the start") {
			v := &listed{fmt.Sprint("t", i)}
			there[v.id] = v
			l.Add(v)
			if i%7 == 0 {
				stays = append(stays, v.id)
			}
		}
		most, after, seen := rapid.IntRange(1, 900).Draw(t, "page"), "", map[string]int{}
		for {
			n := 0
			for v := range l.Behind(after) {
				if n++; n > most {
					break
				}
				seen[v.id]++
				after = v.id
				if there[v.id] != v {
					t.Fatalf("%s is listed, and not there", v.id)
				}
			}
			if n <= most {
				break
			}
			for range rapid.IntRange(0, 20).Draw(t, "turns") {
				turn()
			}
			if v := there[after]; v != nil && !slices.Contains(stays, after) && rapid.Bool().Draw(t, "the last one goes") {
				l.Remove(v)
				delete(there, after)
			}
		}
		for _, id := range stays {
			if seen[id] != 1 {
				t.Fatalf("%s is on %d pages", id, seen[id])
			}
		}
		if l.n != len(there) {
			t.Fatalf("%d are counted, %d there", l.n, len(there))
		}
	})
}

// However many there are, the buckets stay short and share them, and what a burst needed is given back.
func TestListingGrowsAndShrinks(t *testing.T) {
	l := newListed()
	var all []*listed
	for i := range 200_000 {
		v := &listed{fmt.Sprint("1kdvdna00x2f4.", i)}
		all = append(all, v)
		l.Add(v)
	}
	longest := 0
	for _, in := range l.buckets {
		longest = max(longest, len(in))
	}
	if longest > 4*fullBucket {
		t.Errorf("a bucket has %d of 200000", longest)
	}
	for _, v := range all {
		l.Remove(v)
	}
	for range l.Behind("") {
		t.Error("something is left")
	}
	if len(l.buckets) > fewestBuckets {
		t.Errorf("%d buckets for nothing", len(l.buckets))
	}
}
