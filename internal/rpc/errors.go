package rpc

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// A call fails with a declared *cluster.Error (the peer's answer: the connection stays), with the
// caller's own context.Canceled, or with one of these.
var (
	// ErrUnavailable: no answer. The peer could not be reached, hung up, or took too long (then the
	// error is a context.DeadlineExceeded as well). Unless NotSent, it may have carried the request out.
	ErrUnavailable = errors.New("unavailable")
	// ErrRemote: the peer answered, but with a failure that it does not declare (a panic, an unknown
	// method) or with something that is no valid reply.
	ErrRemote = errors.New("remote failure")
	// ErrTooLarge: the request exceeds the limit for one message and was not sent.
	ErrTooLarge = errors.New("message too large")
	// ErrClosed: the client was closed by its owner.
	ErrClosed = errors.New("closed")

	// ErrUntrusted: whoever is at the address is not who was expected, or refuses this process. Trying again is in vain until somebody
	// changes a certificate. It is ErrUnavailable and NotSent as well.
	ErrUntrusted = errors.New("not trusted")

	errNotSent = errors.New("no connection")
)

// Refused reports whether err says that nobody listens at the address: the process is gone.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// NotSent reports whether err says that no connection could be made, so that the request certainly
// did not arrive.
func NotSent(err error) bool { return errors.Is(err, errNotSent) }

// wireError turns what a handler returned into what the generated processor declares. An error that
// is not a *cluster.Error goes out as an application exception.
func wireError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var declared *cluster.Error
	if errors.As(err, &declared) {
		w := &dodoor.ServiceError{Code: dodoor.ErrorCode(declared.Code), Message: *text(declared.Message)}
		if ms := declared.After.Milliseconds(); ms > 0 {
			w.RetryAfterMs = &ms
		}
		return w
	}
	if ctx.Err() != nil {
		return &dodoor.ServiceError{Code: dodoor.ErrorCode_DRAINING, Message: "the service is stopping"}
	}
	return err
}

// callerError turns what a generated client returned into what its callers see. The pool has already
// classified every failure but the two that arrive in a well-formed reply: a declared error, and
// nothing at all.
func callerError(err error) error {
	switch e := err.(type) {
	case *dodoor.ServiceError:
		return declaredError(e)
	case thrift.TApplicationException:
		return fmt.Errorf("%w: %w", ErrRemote, err)
	default:
		return err
	}
}

func declaredError(e *dodoor.ServiceError) error {
	if e.Code < dodoor.ErrorCode_INVALID || e.Code > dodoor.ErrorCode_NOT_ALLOWED {
		return fmt.Errorf("%w: declared error with the unknown code %d: %s", ErrRemote, e.Code, *text(e.Message))
	}
	after := e.GetRetryAfterMs()
	if after < 0 || after > maxMillis {
		return fmt.Errorf("%w: declared error with retry_after_ms = %d: must be %s: %s", ErrRemote, after, bounds(0, maxMillis), *text(e.Message))
	}
	return &cluster.Error{Code: cluster.ErrorCode(e.Code), Message: e.Message, After: time.Duration(after) * time.Millisecond}
}
