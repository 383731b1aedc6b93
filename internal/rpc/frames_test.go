package rpc

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/apache/thrift/lib/go/thrift"
)

// wire is a connection that reads what was prepared and remembers each write.
type wire struct {
	io.Reader
	writes [][]byte
}

func (w *wire) Write(b []byte) (int, error) {
	w.writes = append(w.writes, bytes.Clone(b))
	return len(b), nil
}

// Messages come out as they went in, however the network cuts or joins them; empty ones are nothing.
func TestFramesAreWhatWasSent(t *testing.T) {
	sent := []string{"first", "", strings.Repeat("second", 1000), "third"}
	out := &wire{}
	f := &frames{conn: out, limit: 1 << 20}
	for _, message := range sent {
		f.WriteString(message)
		if err := f.Flush(background); err != nil {
			t.Fatal(err)
		}
	}
	if len(out.writes) != len(sent) {
		t.Errorf("%d writes for %d messages", len(out.writes), len(sent))
	}
	arrived := bytes.Join(out.writes, nil)
	want := []byte(strings.Join(sent, ""))
	for name, network := range map[string]io.Reader{
		"at once": bytes.NewReader(arrived), "in halves": iotest.HalfReader(bytes.NewReader(arrived)),
		"byte by byte": iotest.OneByteReader(bytes.NewReader(arrived)), "error with data": iotest.DataErrReader(bytes.NewReader(arrived)),
	} {
		got, err := io.ReadAll(&frames{conn: &wire{Reader: network}, limit: 1 << 20})
		if !errors.As(err, new(thrift.TTransportException)) || !errors.Is(err, io.EOF) || !bytes.Equal(got, want) {
			t.Errorf("%s: %d of %d bytes arrive, then %v", name, len(got), len(want), err)
		}
	}
}

// A message is not believed: memory grows with what has arrived of it, and one over the limit is refused.
func TestFramesBelieveNoLength(t *testing.T) {
	promise := frame(1<<19, "only this")
	f := &frames{conn: &wire{Reader: bytes.NewReader(promise)}, limit: 1 << 20}
	if _, err := f.ReadByte(); err == nil {
		t.Error("half a message was handed out")
	}
	if len(f.in) > 2*frameBytes {
		t.Errorf("%d bytes of memory for %d that arrived", len(f.in), len(promise))
	}
	f = &frames{conn: &wire{Reader: bytes.NewReader(frame(11, "more than 10"))}, limit: 10}
	if _, err := f.ReadByte(); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
}

// A message over the limit is not sent, and the next one is as if it had not been.
func TestFramesAfterOneTooLarge(t *testing.T) {
	out := &wire{}
	f := &frames{conn: out, limit: 10}
	f.WriteString("more than ten bytes")
	if err := f.Flush(background); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
	f.WriteString("few")
	if err := f.Flush(background); err != nil || len(out.writes) != 1 || !bytes.Equal(out.writes[0], frame(3, "few")) {
		t.Errorf("%v, sent %q", err, out.writes)
	}
}

// The memory of a very large message is given back with the next one.
func TestFramesKeepLittle(t *testing.T) {
	large := strings.Repeat("x", keptBytes+1)
	out := &wire{}
	f := &frames{conn: out, limit: 1 << 20}
	for _, message := range []string{large, "small"} {
		f.WriteString(message)
		f.Flush(background)
	}
	out.Reader = bytes.NewReader(bytes.Join(out.writes, nil))
	if got, _ := io.ReadAll(f); len(got) != len(large)+len("small") {
		t.Errorf("%d bytes arrived", len(got))
	}
	if cap(f.out) > keptBytes || len(f.in) > keptBytes {
		t.Errorf("%d and %d bytes are kept", cap(f.out), len(f.in))
	}
}
