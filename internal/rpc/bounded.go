package rpc

import (
	"context"
	"fmt"

	"github.com/apache/thrift/lib/go/thrift"
)

// bounded is the compact protocol for messages of peers that nobody trusts: lists, strings and structs are bounded before there
// is memory for them. The library bounds each list by its message alone: a byte may be a struct, which takes two hundred.
type bounded struct {
	*thrift.TCompactProtocol
	frames  *frames
	charge  func(bytes int64) error // for what the message becomes; nil: nobody asks
	structs int                     // of the message so far
}

var _ thrift.TProtocol = (*bounded)(nil)

func outOfBounds(format string, args ...any) error {
	return thrift.NewTProtocolExceptionWithType(thrift.SIZE_LIMIT, fmt.Errorf(format, args...))
}

// ReadMessageBegin implements thrift.TProtocol.
func (b *bounded) ReadMessageBegin(ctx context.Context) (string, thrift.TMessageType, int32, error) {
	b.structs = 0
	return b.TCompactProtocol.ReadMessageBegin(ctx)
}

// ReadStructBegin implements thrift.TProtocol.
func (b *bounded) ReadStructBegin(ctx context.Context) (string, error) {
	b.structs++
	if b.structs%chargedStructs == 0 {
		if most := b.frames.limit / bytesPerStruct; b.structs > most {
			return "", outOfBounds("the message holds more than %d structures, which are all that are allowed", most)
		}
		if b.charge != nil {
			if err := b.charge(chargedStructs * decodedStruct); err != nil {
				return "", err
			}
		}
	}
	return b.TCompactProtocol.ReadStructBegin(ctx)
}

// ReadListBegin implements thrift.TProtocol.
func (b *bounded) ReadListBegin(ctx context.Context) (thrift.TType, int, error) {
	kind, size, err := b.TCompactProtocol.ReadListBegin(ctx)
	if left := b.frames.RemainingBytes(); err == nil && kind == thrift.STRUCT && size > spareStructs && uint64(size)*leastBytes > left {
		return kind, 0, outOfBounds("a list claims %d structures, and %d bytes are left of the message: each has at least %d", size, left,
			leastBytes)
	}
	if err == nil && kind != thrift.STRUCT {
		err = b.elements(size, decodedElement)
	}
	return kind, size, err
}

// ReadMapBegin implements thrift.TProtocol.
func (b *bounded) ReadMapBegin(ctx context.Context) (key, value thrift.TType, size int, err error) {
	if key, value, size, err = b.TCompactProtocol.ReadMapBegin(ctx); err == nil {
		err = b.elements(size, decodedEntry)
	}
	return key, value, size, err
}

// elements books memory for what is no struct: before there is some, as the library makes room for all of them at once.
func (b *bounded) elements(n int, each int64) error {
	if b.charge == nil || n <= spareElements {
		return nil
	}
	return b.charge(int64(n) * each)
}
