package cluster

import (
	"errors"
	"fmt"
	"time"
)

// ErrorCode classifies a declared service error; it crosses the wire. Every declared error has one, so that
// errors.Is(err, cluster.Stale) tells what a service answered; only Error values are returned.
type ErrorCode uint8

const (
	Invalid ErrorCode = iota + 1
	Draining
	Overloaded
	UnknownNode
	UnknownScheduler
	UnknownTask
	DuplicateNode
	DuplicateScheduler
	Stale
	Gap
	Denied
)

var errorNames = [...]string{"", "invalid", "draining", "overloaded", "unknown node", "unknown scheduler",
	"unknown task", "duplicate node", "duplicate scheduler", "stale", "gap", "not allowed"}

func (c ErrorCode) String() string {
	if int(c) < len(errorNames) {
		return errorNames[c]
	}
	return "unknown error"
}

// Error makes the code an error, which is what errors.Is asks for.
func (c ErrorCode) Error() string { return c.String() }

// Error is a declared error of a service: it reaches the caller with its code, and the connection
// that carried it stays usable.
type Error struct {
	Code    ErrorCode
	Message string
	After   time.Duration // Overloaded, Draining: asking again sooner is in vain; 0: it does not say
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// Unwrap returns the code.
func (e *Error) Unwrap() error { return e.Code }

// Errorf makes an *Error.
func Errorf(code ErrorCode, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Later makes an *Error that says when to ask again.
func Later(code ErrorCode, after time.Duration, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), After: after}
}

// AfterOf returns how long the declared error in err's chain wants its caller to stay away, or 0.
func AfterOf(err error) time.Duration {
	if declared, ok := errors.AsType[*Error](err); ok {
		return declared.After
	}
	return 0
}

// CodeOf returns the code of a declared error in err's chain, or 0: for a switch. One code is asked for with
// errors.Is.
func CodeOf(err error) ErrorCode {
	code, _ := errors.AsType[ErrorCode](err)
	return code
}
