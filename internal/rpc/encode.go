package rpc

import (
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"dodoor/internal/cluster"
)

// encoder turns values into messages. Wherever it can, a message points into the value that it was
// made from, so the value must stay as it is until the message is written; nothing is copied.
type encoder struct{ dims cluster.Dimensions }

// optional leaves an empty string out of the message.
func optional(s *string) *string {
	if *s == "" {
		return nil
	}
	return s
}

const cut = " ... (cut)"

// text makes any string fit to be read by people at the other end: what a failed program printed
// need not be text, and must not make its completion unacceptable.
func text(s string) *string {
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	if len(s) > maxText {
		end := maxText - len(cut)
		for !utf8.RuneStart(s[end]) {
			end--
		}
		s = s[:end] + cut
	}
	return &s
}

// optionalText leaves an empty text out of the message.
func optionalText(s string) *string {
	if s == "" {
		return nil
	}
	return text(s)
}

// narrow converts to the wire's 32 bits. What does not fit becomes the nearest number that does,
// rather than another one: receivers refuse it wherever it has a meaning.
func narrow(n int64) *int32 {
	v := narrowest(n)
	return &v
}

func narrowest(n int64) int32 { return int32(min(max(n, math.MinInt32), math.MaxInt32)) }

func micros(d time.Duration) *int64 {
	n := d.Microseconds()
	return &n
}

func millis(d time.Duration) *int64 {
	n := d.Milliseconds()
	return &n
}

// optionalSpan leaves an unknown (negative) span out of the message.
func optionalSpan(d time.Duration, unit func(time.Duration) *int64) *int64 {
	if d < 0 {
		return nil
	}
	return unit(d)
}
