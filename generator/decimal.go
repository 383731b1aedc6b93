package generator

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Numbers are read and written as plain decimals in integer arithmetic, so that a value that was
// written comes back exactly and NaN or infinity cannot be said at all.

const (
	wholePlaces = 0
	milliPlaces = 3 // cores, named extras
	nanoPlaces  = 6 // milliseconds down to the nanosecond
)

// parseDecimal reads [+-]digits[.digits] as a multiple of 10^-places, rounded to the nearest one
// (half away from zero). exact says whether nothing was rounded away. problem is empty when s is
// such a number and fits 64 bits.
func parseDecimal(s string, places int) (v int64, exact bool, problem string) {
	const notANumber = "is not a plain decimal number"
	digits := strings.TrimLeft(s, "+-")
	if len(s)-len(digits) > 1 {
		return 0, false, notANumber
	}
	whole, fraction, point := strings.Cut(digits, ".")
	if whole == "" || point && fraction == "" {
		return 0, false, notANumber
	}
	kept := min(len(fraction), places)
	u, over := uint64(0), false
	for _, part := range [...]string{whole, fraction[:kept], strings.Repeat("0", places-kept)} {
		for i := 0; i < len(part); i++ {
			if part[i] < '0' || part[i] > '9' {
				return 0, false, notANumber
			}
			over = over || u > (math.MaxInt64-9)/10
			u = u*10 + uint64(part[i]-'0')
		}
	}
	rest := fraction[kept:]
	for i := 0; i < len(rest); i++ {
		if rest[i] < '0' || rest[i] > '9' {
			return 0, false, notANumber
		}
	}
	if rest != "" && rest[0] >= '5' {
		u++
	}
	if over {
		return 0, false, "is too large for any amount"
	}
	v = int64(u)
	if s[0] == '-' {
		v = -v
	}
	return v, strings.Trim(rest, "0") == "", ""
}

// appendDecimal is the inverse of parseDecimal; it writes no trailing zeros.
func appendDecimal(b []byte, v int64, places int) []byte {
	u := uint64(v)
	if v < 0 {
		b, u = append(b, '-'), -u
	}
	unit := uint64(1)
	for range places {
		unit *= 10
	}
	b = strconv.AppendUint(b, u/unit, 10)
	rest := u % unit
	if rest == 0 {
		return b
	}
	b = append(b, '.')
	for rest > 0 {
		unit /= 10
		b = append(b, byte('0'+rest/unit))
		rest %= unit
	}
	return b
}

// appendMillis writes d in milliseconds with as many decimals as it needs.
func appendMillis(b []byte, d time.Duration) []byte {
	return appendDecimal(b, int64(d), nanoPlaces)
}
