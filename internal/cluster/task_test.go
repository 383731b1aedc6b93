package cluster

import "testing"

// What a task is expected to take, what an emulated execution is told, and whether anybody said it: on class 0 a profile speaks,
// on class 1 the submission, if it does.
func TestDurationsOfAKind(t *testing.T) {
	profile := []Offer{{Shape: Shape{Duration: 100}, Known: true}}
	learned := func(overrides bool, durations ...int64) *Learned {
		return &Learned{Durations: durations, Otherwise: 9000, Overrides: overrides}
	}
	for _, c := range []struct {
		what            string
		kind            Kind
		class           ClassID
		expected, takes int64
		guessed         bool
	}{
		{"the profile", Kind{PerClass: profile, Uniform: Shape{Duration: 7}, Says: true}, 0, 100, 0, false},
		{"the submission", Kind{PerClass: profile, Uniform: Shape{Duration: 7}, Says: true}, 1, 7, 0, false},
		{"the profile holds", Kind{PerClass: profile, Learned: learned(false, 0, 0)}, 0, 100, 0, false},
		{"the profile is overruled", Kind{PerClass: profile, Learned: learned(false, 300, 0)}, 0, 300, 100, false},
		{"the submission is not", Kind{Uniform: Shape{Duration: 7}, Says: true, Learned: learned(false, 300, 300)}, 1, 7, 0, false},
		{"no time in the submission", Kind{Says: true, Learned: learned(false, 300, 300)}, 1, 0, 0, false},
		{"nobody says it", Kind{Learned: learned(false, 300, 400)}, 1, 400, 0, true},
		{"nobody knows it", Kind{Learned: learned(false, 300, 0)}, 1, 9000, 0, true},
		{"a class that came later", Kind{Learned: learned(false, 300)}, 5, 9000, 0, true},
		{"a default of the mode", Kind{Uniform: Shape{Duration: 7}, Learned: learned(false, 0, 0)}, 1, 7, 0, false},
		{"nobody is believed", Kind{PerClass: profile, Learned: learned(true, 0, 0)}, 0, 9000, 100, false},
		{"nor the submission", Kind{Uniform: Shape{Duration: 7}, Says: true, Learned: learned(true, 0, 40)}, 1, 40, 7, false},
		{"no time is told as the least", Kind{Says: true, Learned: learned(true, 0, 40)}, 1, 40, 1, false},
		{"exactly", Kind{PerClass: profile, Learned: &Learned{Factor: 1.256}}, 0, 126, 100, false},
		{"not more than a year", Kind{Uniform: Shape{Duration: MaxDuration}, Says: true, Learned: &Learned{Factor: 2}}, 1, MaxDuration, 0, false},
	} {
		expected := c.kind.DurationOn(c.class)
		if takes := c.kind.TakesOn(c.class, expected); expected != c.expected || takes != c.takes || c.kind.GuessedOn(c.class) != c.guessed {
			t.Errorf("%s: expected %d, told %d, guessed %v; want %d, %d, %v", c.what, expected, takes, c.kind.GuessedOn(c.class), c.expected,
				c.takes, c.guessed)
		}
		if shape, _ := c.kind.ShapeOn(c.class); shape.Duration != c.expected {
			t.Errorf("%s: the shape says %d", c.what, shape.Duration)
		}
	}
}
