package rpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// A call fails with a declared *cluster.Error (the peer's answer: the connection stays), with the
// caller's own context.Canceled, or with one of these. Only a declared error says that the request
// was certainly not carried out; ErrTooLarge, and a failed dial (NotSent), say so too.
var (
	// ErrUnavailable: no answer. The peer could not be reached, hung up, or took too long (then the
	// error is a context.DeadlineExceeded as well).
	ErrUnavailable = errors.New("unavailable")
	// ErrRemote: the peer answered, but with a failure that it does not declare (a panic, an unknown
	// method) or with values that are not valid.
	ErrRemote = errors.New("remote failure")
	// ErrTooLarge: the request exceeds the limit for one message and was not sent.
	ErrTooLarge = errors.New("message too large")
	// ErrClosed: the client or sender was closed by its owner.
	ErrClosed = errors.New("closed")

	errNotSent = errors.New("no connection")
)

// Refused reports whether err says that nobody listens at the address: the process is gone.
func Refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }

// NotSent reports whether err says that no connection could be made, so that the request certainly
// did not arrive.
func NotSent(err error) bool { return errors.Is(err, errNotSent) }

// classify wraps what the library returned for a call that did not produce a reply.
func classify(ctx context.Context, err error) error {
	var protocol thrift.TProtocolException
	var application thrift.TApplicationException
	var timeout net.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case errors.As(err, &application):
		return fmt.Errorf("%w: %w", ErrRemote, err)
	case ctx.Err() != nil:
		return fmt.Errorf("%w: %w", ErrUnavailable, ctx.Err())
	case errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("%w: %w", ErrUnavailable, context.DeadlineExceeded)
	case errors.As(err, &protocol) && protocol.TypeId() != thrift.UNKNOWN_PROTOCOL_EXCEPTION:
		return fmt.Errorf("%w: answer is not understood: %w", ErrRemote, err)
	default:
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
}

// wireError turns what a handler returned into what the generated processor declares. An error that
// is not a *cluster.Error goes out as an application exception.
func wireError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var declared *cluster.Error
	if errors.As(err, &declared) {
		return &dodoor.ServiceError{Code: dodoor.ErrorCode(declared.Code), Message: text(declared.Message)}
	}
	if ctx.Err() != nil {
		return &dodoor.ServiceError{Code: dodoor.ErrorCode_DRAINING, Message: "the service is stopping"}
	}
	return err
}

// callerError turns what a generated client returned into what callers see; the pool has already
// classified everything but declared exceptions and empty replies.
func callerError(err error) error {
	var declared *dodoor.ServiceError
	if !errors.As(err, &declared) {
		var application thrift.TApplicationException
		if errors.As(err, &application) && !errors.Is(err, ErrRemote) {
			return fmt.Errorf("%w: %w", ErrRemote, err)
		}
		return err
	}
	if declared.Code < 1 || declared.Code > dodoor.ErrorCode_GAP {
		return fmt.Errorf("%w: declared error with the unknown code %d: %s", ErrRemote, declared.Code, declared.Message)
	}
	return &cluster.Error{Code: cluster.ErrorCode(declared.Code), Message: declared.Message}
}
