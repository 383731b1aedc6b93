package generator

import (
	"math"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Decimals against exact rationals.
func TestDecimalAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[-+]?[0-9]{1,12}(\.[0-9]{1,9})?`).Draw(t, "s")
		places := rapid.SampledFrom([]int{wholePlaces, milliPlaces, nanoPlaces}).Draw(t, "places")
		got, exact, problem := parseDecimal(s, places)
		if problem != "" {
			t.Fatalf("%q: %s", s, problem)
		}
		r, _ := new(big.Rat).SetString(s)
		r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(places)), nil)))
		error := new(big.Rat).Sub(r, new(big.Rat).SetInt64(got))
		if exact != (error.Sign() == 0) || error.Abs(error).Cmp(big.NewRat(1, 2)) > 0 {
			t.Fatalf("%q at %d places: %d, exact %v", s, places, got, exact)
		}
		if again, _, _ := parseDecimal(string(appendDecimal(nil, got, places)), places); again != got {
			t.Fatalf("%d comes back as %d", got, again)
		}
	})
	for _, s := range []string{"", ".", "1.", ".5", "--1", "1e3", "1_0", "0x1", " 1", "١"} {
		if _, _, problem := parseDecimal(s, 3); problem == "" {
			t.Errorf("%q is taken for a number", s)
		}
	}
	if v, _, problem := parseDecimal("9223372036854775.799", 3); problem != "" || v != math.MaxInt64-8 {
		t.Errorf("got %d, %s", v, problem)
	}
	for _, s := range []string{"9223372036854775.800", "9223372036854775807", strings.Repeat("1", 5000)} {
		if _, _, problem := parseDecimal(s, 3); !strings.Contains(problem, "too large") {
			t.Errorf("%q: %q", shorten(s), problem)
		}
	}
}
