package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/internal/rpc/rpctest"
)

// limited serves over pipes with counters.
func limited(t *testing.T, h *fakeScheduler, change func(*Config)) (s *Server, l *rpctest.Listener, client Config, counters *Counters) {
	counters = &Counters{}
	cfg := quiet()
	cfg.Observer = counters
	change(&cfg)
	s, l, client = inMemory(t, SchedulerService(h, dims), cfg)
	client.Observer = nil
	return s, l, client, counters
}

// underWay is all that is booked.
func (t *traffic) underWay() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.wire + t.decoded
}

// A second's requests may come at once; whoever sends more is told so, and when to come back. Others are served.
func TestRequestRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, client, counters := limited(t, answering(), func(c *Config) { c.Limits.RequestRate = 10 })
		c := schedulerClient(t, "", client)
		for range 10 {
			answers(t, c)
		}
		_, err := c.Cancel(background, "t")
		var declared *cluster.Error
		if !errors.As(err, &declared) || declared.Code != cluster.Overloaded || declared.After != shortWait ||
			!strings.Contains(err.Error(), "more than 10 requests a second") {
			t.Errorf("got %v", err)
		}
		<-time.After(declared.After)
		answers(t, c)
		if n := counters.Events(RequestRate); n != 1 || counters.Errors(MethodCancel, In) != 1 {
			t.Errorf("%d counted", n)
		}
	})
}

// Every peer has a rate of its own: n requests in the first moment, and then one after the other.
func TestAdmission(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.IntRange(1, 1000).Draw(rt, "rate")
		var o origin
		now, begin, taken := time.Unix(1e9, 0), time.Unix(1e9, 0), 0
		for range 200 {
			wait, ok := o.admits(now, rate)
			if ok {
				taken++
			}
			if most := int(now.Sub(begin).Seconds()*float64(rate)) + rate + 1; taken > most {
				rt.Fatalf("%d taken after %v, at most %d are allowed", taken, now.Sub(begin), most)
			}
			if !ok {
				now = now.Add(wait)
				if _, ok := o.admits(now, rate); !ok {
					rt.Fatalf("refused after the wait of %v that was asked for", wait)
				}
				taken++
			}
			now = now.Add(time.Duration(rapid.IntRange(0, int(time.Second)/rate*2).Draw(rt, "pause")))
		}
	})
}

// Many that begin large messages take no more than there is; those of one who sends little get through.
func TestBytesInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, l, client, counters := limited(t, answering(), func(c *Config) {
			c.MaxMessageBytes, c.MaxSnapshotBytes, c.Limits.InFlight = 1<<20, 1<<20, 4<<20
		})
		for range 20 {
			conn := dialMemory(t, l)
			go conn.Write(frame(1<<20, strings.Repeat("x", 1<<20-1)))
		}
		synctest.Wait()
		if n := s.traffic.underWay(); n > 4<<20 || n < 1<<20 {
			t.Errorf("%d bytes are under way", n)
		}
		answers(t, schedulerClient(t, "", client))
		if n := counters.Events(InFlight); n < 10 {
			t.Errorf("%d were given up", n)
		}
		<-time.After(time.Minute)
		synctest.Wait()
		if n := s.traffic.underWay(); n != 0 {
			t.Errorf("%d bytes are under way after all", n)
		}
	})
}

// Whoever does not read large replies takes no more than there is, no handler, and not for longer than MessageTimeout.
func TestUnreadReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := answering()
		h.counters = func(context.Context) (map[string]int64, error) {
			return map[string]int64{strings.Repeat("x", 1<<19): 1}, nil
		}
		s, l, client, counters := limited(t, h, func(c *Config) {
			c.MaxHandlers, c.MaxMessageBytes, c.MaxSnapshotBytes, c.Limits.InFlight = 1, 1<<20, 1<<20, 4<<20
		})
		for range 100 {
			conn := dialMemory(t, l)
			go conn.Write(askCounters())
		}
		synctest.Wait()
		if n := s.traffic.underWay(); n > 4<<20 {
			t.Errorf("%d bytes are under way", n)
		}
		answers(t, schedulerClient(t, "", client))
		<-time.After(11 * time.Second)
		synctest.Wait()
		if counters.Events(UnreadReply) == 0 || counters.Events(InFlight) == 0 || s.traffic.underWay() != 0 {
			t.Errorf("counted %v, %d bytes under way", counters.Map(), s.traffic.underWay())
		}
	})
}

func askCounters() []byte {
	body := strings.Replace(string(rpctest.AskSetup()[lengthBytes:]), "\x05setup", "\x08counters", 1)
	return frame(uint32(len(body)), body)
}

// Structures that say nothing are refused before there is memory for them, and their sender is told.
func TestEmptyStructures(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, l, client, counters := limited(t, answering(), func(*Config) {})
		conn := dialMemory(t, l)
		go conn.Write(rpctest.EmptyTasks(1 << 18))
		answer, _ := io.ReadAll(conn)
		if !strings.Contains(string(answer), "a list claims 262144 structures") {
			t.Errorf("answered %.300q", answer)
		}
		if n := counters.Events(LargeMessage); n != 1 {
			t.Errorf("counted %v", counters.Map())
		}
		answers(t, schedulerClient(t, "", client))
	})
}

// What messages become in memory is bounded as well; who comes at a bad moment is told to come again, on the same connection.
func TestDecodedBytes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := answering()
		h.submit = func(context.Context, cluster.SubmitRequest) ([]cluster.Refusal, error) { return nil, nil }
		s, _, client, counters := limited(t, h, func(c *Config) { c.Limits.Decoded = 2 * chargedStructs * decodedStruct })
		c := schedulerClient(t, "", client)
		r := cluster.SubmitRequest{Client: "c"}
		for len(r.Tasks) < 10*chargedStructs {
			r.Tasks = append(r.Tasks, cluster.TaskSpec{ID: "t", Type: "type", TimeScale: 1})
		}
		if _, err := c.Submit(background, r); !errors.Is(err, cluster.Overloaded) || !strings.Contains(err.Error(), "bytes of memory") {
			t.Errorf("got %v", err)
		}
		r.Tasks = r.Tasks[:chargedStructs]
		if _, err := c.Submit(background, r); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if counters.Events(InFlight) != 1 || counters.Requests(MethodSubmit, In) != 2 || s.traffic.underWay() != 0 {
			t.Errorf("counted %v, %d bytes taken", counters.Map(), s.traffic.underWay())
		}
	})
}

// A long poll holds its message while it waits, so that is small.
func TestLongPollsAreSmall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, _, client, _ := limited(t, answering(), func(*Config) {})
		c := schedulerClient(t, "", client)
		_, err := c.Collect(background, cluster.CollectRequest{Client: strings.Repeat("c", maxPollBytes)})
		if !errors.Is(err, cluster.Invalid) || !strings.Contains(err.Error(), "at most 2044 are allowed") {
			t.Errorf("got %v", err)
		}
		answers(t, c)
	})
}

// A peer is a machine: an address, or the network of addresses that one has for itself.
func TestHostOf(t *testing.T) {
	for addr, want := range map[string]string{"10.1.2.3:99": "10.1.2.3", "127.0.0.2:1": "127.0.0.2", "[::1]:1": "::1",
		"[2001:db8:1:2:3:4:5:6]:1": "2001:db8:1:2::/64", "[2001:db8:1:2:ffff::1]:7": "2001:db8:1:2::/64", "[fe80::1%eth0]:1": "fe80::/64"} {
		if got := hostOf(named(addr)); got != want {
			t.Errorf("%s is of %s, want %s", addr, got, want)
		}
	}
}

type named string

func (n named) Network() string { return "tcp" }
func (n named) String() string  { return string(n) }

// Whatever connections take and give up, no more is under way than may be, nothing is booked twice, and nobody has to
// give up anything for a peer that has more.
func TestTraffic(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const most = 1000
		tr := traffic{limits: &Limits{InFlight: most}, holders: map[*serverConn]struct{}{}}
		var conns []*serverConn
		origins := []*origin{{name: "a"}, {name: "b"}, {name: "c"}}
		for range 9 {
			conn, _ := net.Pipe()
			c := &serverConn{Conn: conn, from: rapid.SampledFrom(origins).Draw(rt, "peer")}
			c.state.Store(rapid.SampledFrom([]int32{arriving, busy, replying}).Draw(rt, "state"))
			conns = append(conns, c)
		}
		for range 100 {
			c := rapid.SampledFrom(conns).Draw(rt, "connection")
			if rapid.IntRange(0, 9).Draw(rt, "ends") == 0 {
				tr.release(c)
				continue
			}
			n := int64(rapid.IntRange(1, 300).Draw(rt, "bytes"))
			before, had := map[string]int64{}, c.share.wire
			for _, o := range origins {
				before[o.name] = o.wire
			}
			given, ok := tr.take(c, n)
			if want := had + n; ok && c.share.wire != want || !ok && c.share.wire != had {
				rt.Fatalf("has %d after %d more than %d, %v", c.share.wire, n, had, ok)
			}
			for _, name := range given {
				if name != c.from.name && before[name] < before[c.from.name]+n {
					rt.Fatalf("%s with %d gave way to %s with %d and %d more", name, before[name], c.from.name, before[c.from.name], n)
				}
			}
			total, peers := int64(0), map[*origin]int64{}
			for _, c := range conns {
				total += c.share.wire
				peers[c.from] += c.share.wire
			}
			if total != tr.wire || total > most {
				rt.Fatalf("%d bytes are booked of %d", tr.wire, total)
			}
			for _, o := range origins {
				if o.wire != peers[o] {
					rt.Fatalf("%s has %d, booked are %d", o.name, peers[o], o.wire)
				}
			}
		}
	})
}
