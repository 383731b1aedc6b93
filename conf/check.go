package conf

import (
	"cmp"
	"fmt"
	"math"
	"net"
	"regexp"
	"slices"
	"strconv"
	"time"

	"dodoor/scheduler"
)

// The checks that validation is made of. Each says what is allowed and what was found.

// required reports a key that has no default and was not written.
func required[T comparable](r *report, path string, found T) {
	var none T
	if found == none && !r.written(path) {
		r.add(path, "is missing: it has no default")
	}
}

func between[T cmp.Ordered](r *report, path string, found, low, high T) {
	if !(found >= low && found <= high) { // NaN is in no range
		r.add(path, "must be between %v and %v, found %v", low, high, found)
	}
}

func above(r *report, path string, found, low, high float64) {
	ranged(r, path, scheduler.Range{Low: low, High: high, Above: true}, found)
}

// ranged checks a value as a policy's knob is checked.
func ranged(r *report, path string, allowed scheduler.Range, found any) {
	if problem := allowed.Problem(found); problem != "" {
		r.add(path, "%s", problem)
	}
}

// span checks a duration that means something.
func span(r *report, path string, found Duration) {
	ranged(r, path, scheduler.Range{}, time.Duration(found))
}

// spanOrNone checks a duration of which 0 means off, or none.
func spanOrNone(r *report, path string, found Duration) {
	ranged(r, path, scheduler.Range{Zero: "none"}, time.Duration(found))
}

func oneOf(r *report, path, found string, allowed ...string) {
	ranged(r, path, scheduler.Range{Words: allowed}, found)
}

// Identifiers travel in messages, metrics and CSV rows.
var identifierPattern = regexp.MustCompile(`^[A-Za-z0-9._-]{1,128}$`)

func identifier(r *report, path, found string) {
	if !identifierPattern.MatchString(found) {
		r.add(path, "must be 1 to 128 letters, digits, dots, dashes or underscores, found %.80q", found)
	}
}

// hostPort checks host:port. Port 0, any free one, is something to listen on, not to dial.
func hostPort(r *report, path, found string, lowestPort uint64) {
	_, port, err := net.SplitHostPort(found)
	if n, badPort := strconv.ParseUint(port, 10, 16); err != nil || badPort != nil || n < lowestPort {
		r.add(path, "must be host:port with a port between %d and 65535, found %.80q", lowestPort, found)
	}
}

// dialled checks an address that others dial; empty means that it follows from another one.
func dialled(r *report, path, found string) {
	if found != "" {
		hostPort(r, path, found, 1)
	}
}

// whole tells whether found is a whole number of thousandths, the unit it is kept in.
func whole(found float64) bool { return math.Round(found*1000)/1000 == found }

// The largest number of cores, or of an extra: kept in thousandths, it stays below
// cluster.MaxAmount.
const mostCores = 1e9

// amount checks an amount that is kept in thousandths: cores, extras.
func amount(r *report, path string, found, low float64) {
	between(r, path, found, low, mostCores)
	if !whole(found) {
		r.add(path, "must be a multiple of 0.001, found %v", found)
	}
}

// noZeroByte checks an argument vector: the kernel ends an argument at a zero byte.
func noZeroByte(r *report, path string, argv []string) {
	for i, arg := range argv {
		if slices.Contains([]byte(arg), 0) {
			r.add(index(path, i), "must not hold a zero byte, found %.80q", arg)
		}
	}
}

// unique checks the names in a list, each with its path.
type unique struct {
	r    *report
	seen map[string]string
}

func newUnique(r *report) unique { return unique{r, map[string]string{}} }

func (u unique) add(path, name string) {
	first, taken := u.seen[name]
	if !taken {
		u.seen[name] = path
		return
	}
	where := ""
	if o := u.r.origin(first); o.line > 0 {
		where = fmt.Sprintf(" (first in %v)", o)
	}
	u.r.add(path, "%q is there already%s", name, where)
}
