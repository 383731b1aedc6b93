// Package session is the shell of a generator.Client, whoever submits: it posts messages, puts polls, sets timers, connects
// to schedulers that join and hangs up on those that leave. What becomes of which task is decided in package generator.
package session

import (
	"context"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/poll"
	"dodoor/internal/rpc"
)

const (
	ackTimeout = time.Second // bounds the last word to a scheduler
	lookEvery  = time.Second // between two looks at who is registered
)

// Target is one scheduler replica.
type Target struct {
	Name    string // for rows and counters; unique
	Address string // under which the data service lists it; needed where the schedulers are followed
	Service rpc.Scheduler
	Close   func() error // hangs up when it has left; nil: nobody does. What is open after a session is its maker's to close
}

// Config is what a session submits, where, and who is told of it. Its functions are called under the session's lock, except
// Listed; they do not wait.
type Config struct {
	generator.ClientConfig          // but for Schedulers, which are the targets
	Targets                []Target // to begin with

	Name   string                         // of the client: polls are put under it
	Silent bool                           // nobody collects results: submissions, which are a job's, have no client
	Job    *cluster.Job                   // of all tasks; nil: none
	Task   func(i int32) cluster.TaskSpec // any goroutine may call it

	// Listed says again and again who is registered; an error changes nothing. nil: the schedulers are those of the beginning.
	Listed  func(context.Context) ([]cluster.SchedulerRef, error)
	Connect func(cluster.SchedulerRef) Target // to one that joins

	Sent  func(c *generator.Client, m *generator.Message) // nil: nobody wants to know
	Ended func(e *generator.Ending)                       // once per task that the client expects
	News  func(n *generator.News)                         // nil: nobody wants to know
	After func(c *generator.Client) *generator.Actions    // after each verb, until it wants no more; nil: nothing follows
}

// Session is a client at work.
type Session struct {
	cfg   Config
	start time.Time
	calls context.Context // ends with the session
	cut   context.CancelFunc
	all   sync.WaitGroup

	mu     sync.Mutex
	client *generator.Client
	peers  []*peer // by the client's index; nil: it left
	alarm  *time.Timer
}

// New returns a session that begins with Start. Time in it begins at start.
func New(cfg Config, start time.Time) *Session {
	s := &Session{cfg: cfg, start: start, alarm: time.NewTimer(0)}
	s.calls, s.cut = context.WithCancel(context.Background())
	for i, target := range cfg.Targets {
		s.cfg.Schedulers = append(s.cfg.Schedulers, cluster.SchedulerRef{Name: target.Name, Address: target.Address})
		s.peers = append(s.peers, s.newPeer(i, target))
	}
	s.client = generator.NewClient(s.cfg.ClientConfig)
	return s
}

// Start asks every scheduler which process it is. Tasks may be expected before, in With, and submitted from then on.
func (s *Session) Start() {
	for _, p := range s.peers {
		s.all.Go(p.serve)
	}
	s.all.Go(s.watch)
	if s.cfg.Listed != nil {
		s.all.Go(s.follow)
	}
	s.Step(func(c *generator.Client, now time.Duration) *generator.Actions { return c.Start(now) })
}

// Close cuts off what is under way, and returns when nothing is. What was collected is acknowledged.
func (s *Session) Close() {
	s.cut()
	s.all.Wait()
}

// Now is the time of the session.
func (s *Session) Now() time.Duration { return time.Since(s.start) }

// With calls do under the lock.
func (s *Session) With(do func(c *generator.Client)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(s.client)
}

// Step calls one verb of the client and performs what it wants done. Nothing of that waits.
func (s *Session) Step(verb func(c *generator.Client, now time.Duration) *generator.Actions) {
	s.mu.Lock()
	defer s.mu.Unlock()
	wake := generator.Never
	for actions := verb(s.client, s.Now()); actions != nil; {
		wake = s.perform(actions)
		if s.cfg.After == nil {
			break
		}
		actions = s.cfg.After(s.client)
	}
	if wake != generator.Never {
		s.alarm.Reset(wake - s.Now())
	}
}

func (s *Session) perform(a *generator.Actions) (wake time.Duration) {
	for i := range a.Join {
		s.join(&a.Join[i])
	}
	for _, i := range a.Cut {
		s.peers[i].hush()
	}
	for _, m := range a.Send {
		if s.cfg.Sent != nil {
			s.cfg.Sent(s.client, m)
		}
		p := s.peers[m.Scheduler]
		p.posts <- post{m, p.posting} // there is room: the client knows how many connections there are
	}
	for _, p := range a.Poll {
		s.peers[p.Scheduler].polls <- p
	}
	for _, i := range a.Drop {
		s.peers[i].leave()
		s.peers[i] = nil
	}
	for i := range a.News {
		if s.cfg.News != nil {
			s.cfg.News(&a.News[i])
		}
	}
	wake = a.Wake
	for i := range a.Ended {
		s.cfg.Ended(&a.Ended[i])
	}
	return wake
}

// join connects to a scheduler that takes part from now on.
func (s *Session) join(m *generator.Member) {
	p := s.newPeer(m.Scheduler, s.cfg.Connect(m.SchedulerRef))
	if m.Scheduler == len(s.peers) {
		s.peers = append(s.peers, nil)
	}
	s.peers[m.Scheduler] = p
	s.all.Go(p.serve)
}

// Present lists the schedulers that have not left.
func (s *Session) Present() (all []Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.peers {
		if p != nil {
			all = append(all, p.Target)
		}
	}
	return all
}

// watch wakes the client when something is due that no message announces.
func (s *Session) watch() {
	defer s.alarm.Stop()
	for {
		select {
		case <-s.alarm.C:
			s.Step((*generator.Client).Tick)
		case <-s.calls.Done():
			return
		}
	}
}

// follow has the client learn who is registered.
func (s *Session) follow() {
	poll.Every(s.calls, lookEvery, func() {
		ctx, cancel := context.WithTimeout(s.calls, lookEvery)
		listed, err := s.cfg.Listed(ctx)
		if cancel(); err == nil && s.cfg.Connect != nil {
			s.Step(func(c *generator.Client, now time.Duration) *generator.Actions { return c.Members(now, listed) })
		}
	})
}
