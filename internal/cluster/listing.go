package cluster

import (
	"cmp"
	"iter"
	"slices"
)

// Listing keeps values with an id so that pages of them can be told: in an order that follows from the ids alone, a page
// goes on behind an id whether that is still there or not, and what stays is on exactly one page. Adding and removing cost the
// same however many there are, and a page as much as it is long. It is made by NewListing.
type Listing[T any] struct {
	id      func(*T) string
	buckets [][]*T // of the same share of all keys each, in order
	n       int
}

const (
	fewestBuckets = 16
	mostBuckets   = 4096
	fullBucket    = 128 // values in each, on average, before there are more of them
	bucketGrowth  = 8
)

// NewListing returns an empty one; id must not change while a value is in it.
func NewListing[T any](id func(*T) string) Listing[T] { return Listing[T]{id: id} }

// pageKey is where an id stands, before its letters decide.
func pageKey(id string) uint64 {
	h := HashID(id) // whose upper bits say little about the last letters
	h ^= h >> 32
	return h * 0x9e3779b97f4a7c15
}

func (l *Listing[T]) bucket(key uint64) int {
	return int(key >> 32 * uint64(len(l.buckets)) >> 32)
}

// Add takes a value whose id is not there.
func (l *Listing[T]) Add(v *T) {
	if l.n >= fullBucket*len(l.buckets) && len(l.buckets) < mostBuckets {
		l.resize(min(max(fewestBuckets, bucketGrowth*len(l.buckets)), mostBuckets))
	}
	l.n++
	l.put(v)
}

func (l *Listing[T]) put(v *T) {
	b := l.bucket(pageKey(l.id(v)))
	l.buckets[b] = append(l.buckets[b], v)
}

// Remove drops a value, if it is there.
func (l *Listing[T]) Remove(v *T) {
	if l.n == 0 {
		return
	}
	b := l.bucket(pageKey(l.id(v)))
	i := slices.Index(l.buckets[b], v)
	if i < 0 {
		return
	}
	in := l.buckets[b]
	last := len(in) - 1
	in[i], in[last] = in[last], nil
	l.buckets[b] = in[:last]
	if l.n--; l.n < len(l.buckets) && len(l.buckets) > fewestBuckets {
		l.resize(max(fewestBuckets, len(l.buckets)/bucketGrowth)) // a burst leaves no memory behind
	}
}

func (l *Listing[T]) resize(size int) {
	old := l.buckets
	l.buckets = make([][]*T, size)
	for _, in := range old {
		for _, v := range in {
			l.put(v)
		}
	}
}

// placed is a value and where it stands.
type placed[T any] struct {
	key uint64
	id  string
	v   *T
}

func compare[T any](a, b placed[T]) int {
	return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.id, b.id))
}

// Behind yields what comes behind an id, in order; behind none, everything. Nothing may be added or removed meanwhile.
func (l *Listing[T]) Behind(id string) iter.Seq[*T] {
	return func(yield func(*T) bool) {
		if l.n == 0 {
			return
		}
		from := placed[T]{key: pageKey(id), id: id}
		first := 0
		if id != "" {
			first = l.bucket(from.key)
		}
		var sorted []placed[T]
		for b := first; b < len(l.buckets); b++ {
			sorted = sorted[:0]
			for _, v := range l.buckets[b] {
				at := placed[T]{pageKey(l.id(v)), l.id(v), v}
				if id == "" || compare(at, from) > 0 {
					sorted = append(sorted, at)
				}
			}
			slices.SortFunc(sorted, compare[T])
			for i := range sorted {
				if !yield(sorted[i].v) {
					return
				}
			}
		}
	}
}
