package cluster

import (
	"errors"
	"fmt"
	"io"
	"testing"
)

// A declared error is every code that is its own, however deep it is wrapped, and no other.
func TestErrorsAreTheirCodes(t *testing.T) {
	for code := Invalid; code <= Gap; code++ {
		declared := Errorf(code, "node %s", "w1")
		for _, err := range []error{declared, fmt.Errorf("reporting: %w", declared), errors.Join(io.EOF, declared)} {
			for other := Invalid; other <= Gap; other++ {
				if got := errors.Is(err, other); got != (other == code) {
					t.Errorf("errors.Is(%q, %s) = %v", err, other, got)
				}
			}
			if CodeOf(err) != code {
				t.Errorf("CodeOf(%q) = %s", err, CodeOf(err))
			}
		}
	}
	for _, err := range []error{nil, io.EOF, fmt.Errorf("reading: %w", io.EOF)} {
		if errors.Is(err, Stale) || CodeOf(err) != 0 {
			t.Errorf("%v has the code %d", err, CodeOf(err))
		}
	}
}

func TestErrorSaysWhatAndWhere(t *testing.T) {
	if got, want := Errorf(UnknownNode, "node %s", "w1").Error(), "unknown node: node w1"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
