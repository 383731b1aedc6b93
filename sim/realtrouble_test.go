package sim_test

import (
	"strings"
	"sync"
	"time"

	"dodoor/internal/rpc/rpctest"
	"dodoor/sim"
)

// troubles is what keeps messages from their way on the network of a real cluster, as the simulator's faults do.
type troubles struct {
	mu      sync.Mutex
	counts  map[trouble]int
	lag     map[string]time.Duration // of the messages from and to an address
	order   int                      // of what was held up so far
	bounced map[[2]string]int64      // messages by sender and method that were refused late
	resume  chan struct{}            // closed when something does not stall any more
}

// trouble is one kind of fault at an address.
type trouble struct{ address, how string }

func newTroubles() *troubles {
	return &troubles{counts: map[trouble]int{}, lag: map[string]time.Duration{}, bounced: map[[2]string]int64{}, resume: make(chan struct{})}
}

// change begins a fault of what is at an address (1), or ends it (-1).
func (t *troubles) change(address string, f *sim.Fault, by int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.counts[trouble{address, f.How}] += by
	t.lag[address] += time.Duration(by) * f.Delay
	if f.How == sim.Stalls && by < 0 {
		t.wake()
	}
}

// calm ends all of them.
func (t *troubles) calm() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.counts)
	clear(t.lag)
	t.wake()
}

func (t *troubles) wake() {
	close(t.resume)
	t.resume = make(chan struct{})
}

func (t *troubles) at(address, how string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[trouble{address, how}] > 0
}

// loses reports whether a message is lost: a request to somebody deaf, or the answer of somebody mute.
func (t *troubles) loses(msg rpctest.Message) bool {
	if msg.Reply {
		return t.at(msg.To, sim.Mute)
	}
	return t.at(msg.To, sim.Deaf)
}

// delay returns how much longer than others a message takes. Results reach the generator at once in the simulator.
func (t *troubles) delay(msg rpctest.Message) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if msg.Method == "collect" {
		return 0
	}
	return t.lag[msg.From] + t.lag[msg.To]
}

// stalled returns what to wait for; nil: the message may go on.
func (t *troubles) stalled(msg rpctest.Message) chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.counts[trouble{msg.From, sim.Stalls}]+t.counts[trouble{msg.To, sim.Stalls}] > 0 {
		return t.resume
	}
	return nil
}

// bounces reports whether a refused connection shows late: where a scheduler sends several messages to a worker at
// once, their order must be told.
func (t *troubles) bounces(from, to string) bool {
	return strings.HasPrefix(from, "scheduler-") && to != dataAddress
}

// note counts a message that was refused late. Its sender counts it as sent; one whose connection is refused at once
// is not.
func (t *troubles) note(msg rpctest.Message) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if msg.Refused && !msg.Reply {
		t.bounced[[2]string{msg.From, "out." + msg.Method}]++
	}
}

// next numbers what is held up.
func (t *troubles) next() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.order++
	return t.order
}
