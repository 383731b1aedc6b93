package cluster

import (
	"errors"
	"fmt"
)

// ErrorCode classifies a declared service error; it crosses the wire.
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
)

var errorNames = [...]string{"", "invalid", "draining", "overloaded", "unknown node", "unknown scheduler",
	"unknown task", "duplicate node", "duplicate scheduler", "stale", "gap"}

func (c ErrorCode) String() string {
	if int(c) < len(errorNames) {
		return errorNames[c]
	}
	return "unknown error"
}

// Error is a declared error of a service: it reaches the caller with its code, and the connection
// that carried it stays usable.
type Error struct {
	Code    ErrorCode
	Message string
}

func (e *Error) Error() string { return e.Code.String() + ": " + e.Message }

// Errorf makes an *Error.
func Errorf(code ErrorCode, format string, args ...any) error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of a declared error in err's chain, or 0.
func CodeOf(err error) ErrorCode {
	if err == nil {
		return 0
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return 0
}
