package worker

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The ring is checked against a slice.
func TestRingAgainstSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r ring[int]
		var model []int
		next := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "times") {
					r.push(next)
					model = append(model, next)
					next++
				}
			},
			"pop": func(t *rapid.T) {
				for range rapid.IntRange(1, 40).Draw(t, "times") {
					if len(model) == 0 {
						t.Skip("empty")
					}
					if got := r.pop(); got != model[0] {
						t.Fatalf("pop: %d, want %d", got, model[0])
					}
					model = model[1:]
				}
			},
			"remove": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				i := rapid.IntRange(0, len(model)-1).Draw(t, "i")
				r.remove(i)
				model = slices.Delete(slices.Clone(model), i, i+1)
			},
			"drain": func(t *rapid.T) {
				if got := r.drain(); !slices.Equal(got, model) {
					t.Fatalf("drain: %v, want %v", got, model)
				}
				model = nil
			},
			"": func(t *rapid.T) {
				if r.len() != len(model) {
					t.Fatalf("len %d, want %d", r.len(), len(model))
				}
				for i, want := range model {
					if *r.at(i) != want {
						t.Fatalf("at(%d) = %d, want %d", i, *r.at(i), want)
					}
				}
				if len(r.slots) > minRing && r.n < len(r.slots)/4 {
					t.Fatalf("%d elements in %d slots", r.n, len(r.slots))
				}
			},
		})
	})
}

func TestRingReleasesWhatItHeld(t *testing.T) {
	var r ring[*int]
	for range 3 {
		r.push(new(int))
	}
	r.remove(1)
	r.pop()
	r.pop()
	for i, p := range r.slots {
		if p != nil {
			t.Errorf("slot %d still points somewhere", i)
		}
	}
}
