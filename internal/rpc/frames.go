package rpc

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/apache/thrift/lib/go/thrift"
)

// frames is Thrift's framed transport, a length and then as many bytes, for one connection whose messages
// come and go one at a time. The library's has three buffers of 4 KB under the frame's own, and there are
// connections between every two services; this one has a frame for each direction.
type frames struct {
	conn  io.ReadWriter
	limit int // bytes of a message

	in      []byte // [at, end) is the rest of the message, [end, held) was read beyond it
	at, end int
	held    int
	out     []byte // the message that is being written, behind the room for its length
}

const (
	lengthBytes = 4
	frameBytes  = 512     // of a first buffer: a message of a few tasks
	keptBytes   = 1 << 18 // a larger buffer is not kept for the next message; a thousand results take 150 KB
)

var _ thrift.TRichTransport = (*frames)(nil)

// Read implements io.Reader. It reads on into the next message, so an empty one is nothing.
func (f *frames) Read(b []byte) (int, error) {
	if err := f.more(); err != nil {
		return 0, err
	}
	n := copy(b, f.in[f.at:f.end])
	f.at += n
	return n, nil
}

// ReadByte implements io.ByteReader.
func (f *frames) ReadByte() (byte, error) {
	if err := f.more(); err != nil {
		return 0, err
	}
	c := f.in[f.at]
	f.at++
	return c, nil
}

// more returns when there is something to read.
func (f *frames) more() error {
	for f.at == f.end {
		if err := f.next(); err != nil {
			return err
		}
	}
	return nil
}

// next reads a whole message.
func (f *frames) next() error {
	beyond := f.in[f.end:f.held]
	if len(f.in) > keptBytes && len(beyond) < frameBytes {
		f.in = make([]byte, frameBytes)
	}
	f.at, f.end, f.held = 0, 0, copy(f.in, beyond)
	if err := f.hold(lengthBytes); err != nil {
		return err
	}
	size := binary.BigEndian.Uint32(f.in)
	if err := f.within(int(size)); err != nil {
		return err
	}
	if err := f.hold(lengthBytes + int(size)); err != nil {
		return err
	}
	f.at, f.end = lengthBytes, lengthBytes+int(size)
	return nil
}

// within fails for a message that no connection carries.
func (f *frames) within(size int) error {
	if size <= f.limit {
		return nil
	}
	return thrift.NewTProtocolExceptionWithType(thrift.SIZE_LIMIT,
		fmt.Errorf("frame too large: %d bytes, at most %d are allowed", size, f.limit))
}

// hold reads until n bytes are there. The buffer grows with what has arrived, not with what was promised.
func (f *frames) hold(n int) error {
	for f.held < n {
		if f.held == len(f.in) {
			f.in = append(f.in, make([]byte, min(max(n-f.held, frameBytes), max(len(f.in), frameBytes)))...)
		}
		read, err := f.conn.Read(f.in[f.held:])
		f.held += read
		if err != nil && f.held < n {
			return thrift.NewTTransportExceptionFromError(err)
		}
	}
	return nil
}

// RemainingBytes returns how much of the message was not read.
func (f *frames) RemainingBytes() uint64 { return uint64(f.end - f.at) }

// Write implements io.Writer. Nothing leaves before Flush.
func (f *frames) Write(b []byte) (int, error) {
	f.out = append(f.begun(), b...)
	return len(b), nil
}

// WriteByte implements io.ByteWriter.
func (f *frames) WriteByte(c byte) error {
	f.out = append(f.begun(), c)
	return nil
}

// WriteString implements io.StringWriter.
func (f *frames) WriteString(s string) (int, error) {
	f.out = append(f.begun(), s...)
	return len(s), nil
}

// begun returns the message, which has room for its length.
func (f *frames) begun() []byte {
	if len(f.out) == 0 {
		f.out = slices.Grow(f.out, frameBytes)[:lengthBytes]
	}
	return f.out
}

// Flush sends the message in one write. One that is too large is dropped.
func (f *frames) Flush(context.Context) error {
	message := f.begun()
	f.out = message[:0]
	if cap(message) > keptBytes {
		f.out = nil
	}
	size := len(message) - lengthBytes
	if err := f.within(size); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(message, uint32(size))
	_, err := f.conn.Write(message)
	return thrift.NewTTransportExceptionFromError(err)
}

// Open, IsOpen and Close have nothing to do: a connection is its owner's business.

func (f *frames) Open() error  { return nil }
func (f *frames) IsOpen() bool { return true }
func (f *frames) Close() error { return nil }
