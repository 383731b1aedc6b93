package rpc

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// padded asks for counters with a field that nobody knows, of so many bytes.
func padded(n int) []byte {
	return unknownField("\x98" + string(binary.AppendUvarint(nil, uint64(n))) + strings.Repeat("x", n))
}

// unknownField asks for counters with the bytes of a field that nobody knows.
func unknownField(field string) []byte {
	body := string(askCounters()[lengthBytes:])
	body = body[:len(body)-1] + field + "\x00"
	return frame(uint32(len(body)), body)
}

// readReply reads a whole one.
func readReply(t *testing.T, conn net.Conn) {
	t.Helper()
	length := make([]byte, lengthBytes)
	if _, err := io.ReadFull(conn, length); err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(length))); err != nil {
		t.Fatal(err)
	}
}

func counting() *fakeScheduler {
	h := answering()
	h.counters = func(context.Context) (map[string]int64, error) { return map[string]int64{"n": 1}, nil }
	return h
}

// A message that was read together with a larger one before it takes nothing once it is answered.
func TestPipelinedMessagesGiveBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l, _, _ := limited(t, counting(), func(*Config) {})
		for _, sizes := range [][]int{{1<<20 - 2<<10, 600}, {1<<20 - 2<<10, 600, 5000, 600}, {1 << 18, 1 << 17, 100}} {
			conn := dialMemory(t, l)
			var all []byte
			for _, n := range sizes {
				all = append(all, padded(n)...)
			}
			go conn.Write(all)
			for range sizes {
				readReply(t, conn)
			}
			synctest.Wait()
			if n := s.traffic.underWay(); n != 0 {
				t.Errorf("%v: %d bytes are under way", sizes, n)
			}
		}
	})
}

// The beginning of a message that was read with the one before it is the beginning of a message: the rest has to come soon.
func TestPipelinedBeginning(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l, _, _ := limited(t, counting(), func(*Config) {})
		conn := dialMemory(t, l)
		go conn.Write(append(padded(1<<20-2<<10), padded(5000)[:700]...))
		readReply(t, conn)
		if waited, most := hangsUp(t, conn), Default().MessageTimeout; waited != most {
			t.Errorf("closed after %v, want %v", waited, most)
		}
		synctest.Wait()
		if n := s.traffic.underWay(); n != 0 {
			t.Errorf("%d bytes are under way", n)
		}
	})
}

// While a reply is not read, it alone takes memory: neither its request does, nor what that became.
func TestUnreadReplyHoldsNoRequest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := answering()
		h.submit = func(context.Context, cluster.SubmitRequest) ([]cluster.Refusal, error) { return nil, nil }
		s, l, _, counters := limited(t, h, func(*Config) {})
		go dialMemory(t, l).Write(manyTasks(10 * chargedStructs))
		synctest.Wait()
		if n := s.traffic.underWay(); n != 0 {
			t.Errorf("%d bytes are under way", n)
		}
		if n := counters.Requests(MethodSubmit, In); n != 1 {
			t.Errorf("%d answered", n)
		}
	})
}

// manyTasks is a message with so many tasks.
func manyTasks(tasks int) []byte {
	client, id, kind := "c", "t", "type"
	r := &dodoor.SubmitRequest{Client: &client}
	for range tasks {
		r.Tasks = append(r.Tasks, &dodoor.TaskSpec{ID: &id, TaskType: &kind})
	}
	return written("submit", &dodoor.SchedulerServiceSubmitArgs{Request: r})
}

// Elements of lists and maps that are no structures count as well, before there is memory for them.
func TestDecodedElements(t *testing.T) {
	most := 1 << 17
	for name, message := range map[string]struct {
		write func(p thrift.TProtocol)
		read  func(p *bounded) error
		bytes int64
	}{
		"list": {func(p thrift.TProtocol) { p.WriteListBegin(background, thrift.BYTE, most) },
			func(p *bounded) error { _, _, err := p.ReadListBegin(background); return err }, 2 << 20},
		"map": {func(p thrift.TProtocol) { p.WriteMapBegin(background, thrift.BYTE, thrift.BYTE, most) },
			func(p *bounded) error { _, _, _, err := p.ReadMapBegin(background); return err }, 6 << 20},
	} {
		buffer := &bytes.Buffer{}
		out := stack(&frames{conn: buffer, limit: 1 << 20}, 1<<20)
		message.write(out)
		out.Transport().Write(make([]byte, 2*most))
		out.Flush(background)
		in := stack(&frames{conn: buffer, limit: 1 << 20}, 1<<20)
		var charged int64
		in.charge = func(bytes int64) error { charged += bytes; return errInFlight }
		if err := message.read(in); !errors.Is(err, errInFlight) || charged != message.bytes {
			t.Errorf("%s: %d bytes are booked, %v", name, charged, err)
		}
	}
}
