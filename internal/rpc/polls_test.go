package rpc

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// patient answers polls when they are over.
func patient() *fakeScheduler {
	h := answering()
	h.collect = func(ctx context.Context, r cluster.CollectRequest) (cluster.CollectReply, error) {
		select {
		case <-ctx.Done():
		case <-time.After(r.Wait):
		}
		return cluster.CollectReply{Incarnation: 1}, nil
	}
	return h
}

// So many polls of a peer wait at once; one more is told to come again, and has room when another is over.
func TestWaitingPolls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, client, counters := limited(t, patient(), func(c *Config) { c.Limits.PeerPolls = 2 })
		client.CallTimeout = time.Hour
		c := schedulerClient(t, "", client)
		r := cluster.CollectRequest{Client: "c", Wait: time.Minute}
		for range 2 {
			go c.Collect(background, r)
		}
		synctest.Wait()
		if _, err := c.Collect(background, r); !errors.Is(err, cluster.Overloaded) || !strings.Contains(err.Error(), "more than 2 long polls") {
			t.Errorf("got %v", err)
		}
		answers(t, c)
		<-time.After(time.Minute)
		synctest.Wait()
		if _, err := c.Collect(background, r); err != nil {
			t.Error(err)
		}
		if n := counters.Events(WaitingPolls); n != 1 {
			t.Errorf("counted %d", n)
		}
	})
}

// A poll that waits takes nothing of what messages may, whatever it came with.
func TestWaitingPollsHoldNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := patient()
		h.counters = func(context.Context) (map[string]int64, error) { return nil, nil }
		s, l, _, counters := limited(t, h, func(*Config) {})
		conn := dialMemory(t, l)
		go conn.Write(append(padded(1<<20-2<<10), poll()...))
		readReply(t, conn)
		synctest.Wait()
		if n := s.traffic.underWay(); n != 0 {
			t.Errorf("%d bytes are under way", n)
		}
		conn = dialMemory(t, l)
		go conn.Write(append(append(padded(1<<19), poll()...), padded(1<<16)...))
		readReply(t, conn)
		readReply(t, conn)
		if n := counters.Events(LargeMessage); n != 1 {
			t.Errorf("%d polls were refused", n)
		}
	})
}

// poll is a message that waits for a minute.
func poll() []byte {
	client, wait := strings.Repeat("c", 200), int32(60_000)
	r := &dodoor.CollectRequest{Client: &client, WaitMs: &wait}
	return written("collect", &dodoor.SchedulerServiceCollectArgs{Request: r})
}

// written is a message as a client writes it.
func written(method string, args thrift.TStruct) []byte {
	buffer := thrift.NewTMemoryBuffer()
	p := thrift.NewTCompactProtocolConf(buffer, nil)
	p.WriteMessageBegin(background, method, thrift.CALL, 1)
	args.Write(background, p)
	return frame(uint32(buffer.Len()), buffer.String())
}
