package rpc

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/thrift/lib/go/thrift"
)

// frames is Thrift's framed transport, a length and then as many bytes, for one connection whose messages
// come and go one at a time. The library's has three buffers of 4 KB under the frame's own, and there are
// connections between every two services; this one has a frame for each direction.
type frames struct {
	conn  io.ReadWriter
	limit int // bytes of a message
	// charge is asked before a buffer takes more memory; what is not granted fails. nil: nobody asks.
	charge  func(bytes int) error
	charged bool // something was granted
	holds   bool // Flush leaves the message for send

	in      []byte // [at, end) is the rest of the message, [end, held) was read beyond it
	at, end int
	held    int
	out     []byte // the message that is being written, behind the room for its length
	whole   bool   // and it is complete
	failed  error  // why there is no room for the rest of it
}

const (
	lengthBytes = 4
	frameBytes  = 512     // of a first buffer: a message of a few tasks
	keptBytes   = 1 << 11 // a larger buffer is not kept by a connection that waits for the next message
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
	f.settle()
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

// settle makes room for the next message, and gives back what a large one took. What was read beyond it stays.
func (f *frames) settle() {
	before, beyond := f.in, f.in[f.end:f.held]
	switch {
	case len(f.in) <= keptBytes || len(beyond) > keptBytes:
	case len(beyond) > frameBytes:
		f.in = make([]byte, keptBytes)
	default:
		f.in = make([]byte, frameBytes)
	}
	f.at, f.end, f.held = 0, 0, copy(f.in, beyond)
	if len(f.in) != len(before) {
		buffers.give(before)
	}
}

// large is how many bytes the buffers take that are not free.
func (f *frames) large() (bytes int) {
	for _, size := range []int{len(f.in), cap(f.out)} {
		if size > keptBytes {
			bytes += size
		}
	}
	return bytes
}

// size is that of the message.
func (f *frames) size() int { return f.end - lengthBytes }

// drop forgets the rest of the message.
func (f *frames) drop() { f.at = f.end }

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
			larger, err := f.larger(f.in)
			if err != nil {
				return err
			}
			f.in = larger[:cap(larger)]
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

// larger returns a buffer of twice the size with the same bytes.
func (f *frames) larger(b []byte) ([]byte, error) {
	size := min(max(2*cap(b), frameBytes), f.limit+lengthBytes)
	if f.charge != nil && size > keptBytes {
		f.charged = true
		if err := f.charge(size - cap(b)); err != nil {
			return b, err
		}
	}
	larger := append(buffers.take(size), b...)
	buffers.give(b)
	return larger, nil
}

// Write implements io.Writer. Nothing leaves before Flush.
func (f *frames) Write(b []byte) (int, error) {
	if err := f.room(len(b)); err != nil {
		return 0, err
	}
	f.out = append(f.out, b...)
	return len(b), nil
}

// WriteByte implements io.ByteWriter.
func (f *frames) WriteByte(c byte) error {
	if err := f.room(1); err != nil {
		return err
	}
	f.out = append(f.out, c)
	return nil
}

// WriteString implements io.StringWriter.
func (f *frames) WriteString(s string) (int, error) {
	if err := f.room(len(s)); err != nil {
		return 0, err
	}
	f.out = append(f.out, s...)
	return len(s), nil
}

// room begins a message, behind the room for its length, and makes room for n more bytes of it. The library does not look at
// every error, so there is none after the first.
func (f *frames) room(n int) error {
	if f.whole {
		f.unsend()
	}
	if len(f.out) == 0 {
		n += lengthBytes
	}
	for f.failed == nil && cap(f.out)-len(f.out) < n {
		if f.failed = f.within(len(f.out) + n - lengthBytes); f.failed == nil {
			f.out, f.failed = f.larger(f.out)
		}
	}
	if len(f.out) == 0 && f.failed == nil {
		f.out = f.out[:lengthBytes]
	}
	return f.failed
}

// unsend forgets the message that was written.
func (f *frames) unsend() {
	if f.out, f.whole, f.failed = f.out[:0], false, nil; cap(f.out) > keptBytes {
		buffers.give(f.out)
		f.out = nil
	}
}

// Flush sends the message in one write, or leaves that to send. One that is too large is dropped.
func (f *frames) Flush(context.Context) error {
	if err := f.room(0); err != nil {
		f.unsend()
		return err
	}
	if err := f.within(len(f.out) - lengthBytes); err != nil {
		f.unsend()
		return err
	}
	binary.BigEndian.PutUint32(f.out, uint32(len(f.out)-lengthBytes))
	if f.whole = true; f.holds {
		return nil
	}
	return f.send()
}

// send writes the message that Flush left.
func (f *frames) send() error {
	if !f.whole {
		return nil
	}
	_, err := f.conn.Write(f.out)
	f.unsend()
	return thrift.NewTTransportExceptionFromError(err)
}

// Open, IsOpen and Close have nothing to do: a connection is its owner's business.

func (f *frames) Open() error  { return nil }
func (f *frames) IsOpen() bool { return true }
func (f *frames) Close() error { return nil }
