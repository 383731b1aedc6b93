package rpc

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// Bounds on arrival. Amounts, durations and time scales have theirs in package cluster.
const (
	maxName    = cluster.MaxName // of an id, a name or an address
	maxText    = 4096            // bytes of a reason or message for people
	maxItems   = 1 << 16         // tasks, placements, records ... in one message
	maxNodes   = 1 << 17         // nodes in one message, and its rows about nodes
	maxMicros  = math.MaxInt64 / int64(time.Microsecond)
	maxMillis  = math.MaxInt64 / int64(time.Millisecond)
	maxPollMs  = int64(10 * time.Minute / time.Millisecond)
	maxNesting = 8
	maxChunk   = 1 << 20 // bytes of output in one message
)

// decoder turns a message into values and remembers the first thing wrong with it; from then on its
// results mean nothing. It knows where it is, so that the error names the field.
type decoder struct {
	dims  cluster.Dimensions
	err   error
	path  [maxNesting]step
	depth int
}

type step struct {
	field string
	index int // < 0: the field is no list
}

// enter goes into a nested message; a leave must follow.
func (d *decoder) enter(field string, index int) {
	d.path[d.depth] = step{field, index}
	d.depth++
}

func (d *decoder) leave() { d.depth-- }

// fail records what is wrong with a field, and what is allowed.
func (d *decoder) fail(field, format string, args ...any) {
	if d.err != nil {
		return
	}
	var where strings.Builder
	for _, s := range d.path[:d.depth] {
		where.WriteString(s.field)
		if s.index >= 0 {
			where.WriteString("[" + strconv.Itoa(s.index) + "]")
		}
		where.WriteByte('.')
	}
	d.err = fmt.Errorf("%s%s %s", where.String(), field, fmt.Sprintf(format, args...))
}

func (d *decoder) missing(field string) { d.fail(field, "is missing") }

// invalid is the declared answer to a request that a decoder found something wrong with.
func invalid(err error) error {
	return &dodoor.ServiceError{Code: dodoor.ErrorCode_INVALID, Message: *text(err.Error())}
}

// between returns a required integer within [low, high].
func (d *decoder) between(field string, v *int64, low, high int64) int64 {
	if v == nil {
		d.missing(field)
		return 0
	}
	if *v < low || *v > high {
		d.fail(field, "is %d: must be %s", *v, bounds(low, high))
		return 0
	}
	return *v
}

func bounds(low, high int64) string {
	switch {
	case high < math.MaxInt64:
		return fmt.Sprintf("from %d to %d", low, high)
	case low == 1:
		return "positive"
	default:
		return fmt.Sprintf("at least %d", low)
	}
}

// count returns a required integer that is not negative; incarnation one that is positive.
func (d *decoder) count(field string, v *int64) int64 { return d.between(field, v, 0, math.MaxInt64) }

func (d *decoder) incarnation(field string, v *int64) int64 {
	return d.between(field, v, 1, math.MaxInt64)
}

// any64 returns a required integer that may be anything: cumulative sums wrap around.
func (d *decoder) any64(field string, v *int64) int64 {
	return d.between(field, v, math.MinInt64, math.MaxInt64)
}

// int32 returns a required integer of the wire's smaller kind.
func (d *decoder) int32(field string, v *int32, low, high int64) int {
	if v == nil {
		d.missing(field)
		return 0
	}
	wide := int64(*v)
	return int(d.between(field, &wide, low, high))
}

func (d *decoder) micros(field string, v *int64) time.Duration {
	return time.Duration(d.between(field, v, 0, maxMicros)) * time.Microsecond
}

func (d *decoder) millis(field string, v *int64) time.Duration {
	return time.Duration(d.between(field, v, 0, maxMillis)) * time.Millisecond
}

// name returns a required id or name; optionalName allows none.
func (d *decoder) name(field string, v *string) string {
	if v == nil || *v == "" {
		d.missing(field)
		return ""
	}
	return d.checkName(field, *v)
}

func (d *decoder) optionalName(field string, v *string) string {
	if v == nil || *v == "" {
		return ""
	}
	return d.checkName(field, *v)
}

func (d *decoder) checkName(field, v string) string {
	if len(v) > maxName {
		d.fail(field, "has %d bytes: at most %d are allowed", len(v), maxName)
		return ""
	}
	for i := 0; i < len(v); i++ {
		if c := v[i]; c < ' ' || c > '~' {
			return d.checkUnicode(field, v)
		}
	}
	return v
}

func (d *decoder) checkUnicode(field, v string) string {
	if !utf8.ValidString(v) {
		d.fail(field, "is not valid UTF-8: %q", v)
		return ""
	}
	if i := strings.IndexFunc(v, unicode.IsControl); i >= 0 {
		d.fail(field, "has a control character at byte %d: %q", i, v)
		return ""
	}
	return v
}

// text returns words for people, which may be absent.
func (d *decoder) text(field string, v *string) string {
	switch {
	case v == nil:
		return ""
	case len(*v) > maxText:
		d.fail(field, "has %d bytes: at most %d are allowed", len(*v), maxText)
		return ""
	case !utf8.ValidString(*v):
		d.fail(field, "is not valid UTF-8")
		return ""
	}
	return *v
}

// length checks the length of a list.
func (d *decoder) length(field string, n, limit int) int {
	if n > limit {
		d.fail(field, "has %d entries: at most %d are allowed", n, limit)
		return 0
	}
	return n
}

// flag returns a boolean; absent is false.
func flag(v *bool) bool { return v != nil && *v }

// enum returns a code that this version knows: 1 to last.
func enum[W ~int64, C ~uint8](d *decoder, field string, v *W, last C) C {
	if v == nil {
		d.missing(field)
		return 0
	}
	if *v < 1 || *v > W(last) {
		d.fail(field, "has the unknown value %d: must be from 1 to %d", int64(*v), int(last))
		return 0
	}
	return C(*v)
}
