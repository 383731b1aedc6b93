package job

import (
	"fmt"
	"strconv"
	"strings"
)

// Array is the numbers of a job whose tasks have nothing but a number: ranges one after the other.
type Array struct {
	ranges []numbers
	count  int64
}

type numbers struct{ first, step, count int64 }

func (r numbers) last() int64 { return r.first + (r.count-1)*r.step }

// maxNumber bounds what an array counts with: every language that reads it holds it exactly.
const maxNumber = 1 << 53

// ParseArray reads A-B[:STEP] or A, several with commas between them: 1-1000, 0-30:10, 3,7,12-20.
func ParseArray(text string) (*Array, error) {
	a := &Array{}
	for part := range strings.SplitSeq(text, ",") {
		r, err := parseRange(strings.TrimSpace(part))
		if err != nil {
			return nil, fmt.Errorf("array %.80q: %w", text, err)
		}
		if k := len(a.ranges); k > 0 && r.first <= a.ranges[k-1].last() {
			return nil, fmt.Errorf("array %.80q: %d comes after %d: numbers go up, and none comes twice", text, r.first, a.ranges[k-1].last())
		}
		a.ranges = append(a.ranges, r)
		if a.count += r.count; a.count > MaxTasks {
			return nil, fmt.Errorf("array %.80q: more than %d tasks: run them as several jobs", text, MaxTasks)
		}
	}
	return a, nil
}

func parseRange(text string) (r numbers, err error) {
	text, step, stepped := strings.Cut(text, ":")
	from, to, ranged := strings.Cut(text, "-")
	r.step = 1
	last := int64(0)
	for _, part := range [...]struct {
		there bool
		text  string
		value *int64
	}{{true, from, &r.first}, {ranged, to, &last}, {stepped, step, &r.step}} {
		if !part.there {
			continue
		}
		n, err := strconv.ParseUint(part.text, 10, 63)
		if err != nil || n > maxNumber {
			return r, fmt.Errorf("%.40q: must be a whole number from 0 to 2^53; a range is A-B or A-B:STEP", part.text)
		}
		*part.value = int64(n)
	}
	switch {
	case !ranged && stepped:
		return r, fmt.Errorf("a step, and no range before it: A-B:STEP")
	case !ranged:
		last = r.first
	case last < r.first:
		return r, fmt.Errorf("%d-%d goes down: the lower number comes first", r.first, last)
	case r.step == 0:
		return r, fmt.Errorf("a step of 0 never ends")
	}
	r.count = (last-r.first)/r.step + 1
	return r, nil
}

// at is number i of the array, from 0 on.
func (a *Array) at(i int64) int64 {
	for _, r := range a.ranges {
		if i < r.count {
			return r.first + i*r.step
		}
		i -= r.count
	}
	return -1 // nobody asks for more than there are
}
