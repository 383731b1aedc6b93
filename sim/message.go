package sim

import (
	"time"

	"dodoor/datastore"
	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/worker"
)

// stage is where a message stands.
type stage uint8

const (
	requested stage = iota // it reaches its service
	handled                // a handler is done with it
	answered               // the answer reaches its sender
	ended                  // an execution ends
	due                    // a task arrives at the generator
	timed                  // do is called
	beats                  // a heartbeat is due
	overran                // a task may have run past its estimate
)

// method is a kind of request.
type method uint8

const (
	submit method = iota
	enqueue
	attach
	claim
	probe
	cancel
	withdraw // a client asks a scheduler to end a task
	complete
	push
	flush
	report
	registerNode
	registerScheduler
	checkScheduler
	methods
	noRequest = methods // of executions, timers and tasks that are due
)

// message is a request on its way to its service and back, and everything else that happens at a moment:
// one value for all, so that it can be used again.
type message struct {
	stage  stage
	method method
	echo   bool // the second of a request that arrives twice: nobody waits for its answer
	failed bool // nobody answered; of an execution: it ran into its time limit
	unsent bool // of a failed one: nobody listened, so it certainly did not arrive
	code   cluster.ErrorCode
	after  time.Duration // with the code: when to ask again
	sched  int32
	node   int32 // of the simulation; -1: none
	epoch  int32 // of the service when the message reached it; of the sender for executions and timers
	origin int32 // epoch of the sender
	task   int32 // of the workload; of one that is due: of the client
	client int32 // whose submission or task that is due
	cuts   int32 // of the service when the message was sent
	next   *message

	submission *generator.Message // of submit
	memory     int64              // that may take it; 0: any may
	refused    []cluster.Refusal
	found      bool // by withdraw: the task had not ended

	taskID   string
	demand   cluster.Resources // of an execution
	enqueue  cluster.Enqueue
	reply    cluster.EnqueueReply
	attach   cluster.AttachReply
	claim    cluster.ClaimRequest
	holdings []cluster.Holding
	notice   worker.Notice
	report   cluster.Report
	newcomer cluster.Node // of registerNode
	delta    *cluster.Delta
	snapshot cluster.Snapshot
	push     datastore.Push
	probe    scheduler.Probe
	peer     int  // index of node in the scheduler's view
	idle     bool // a report that is a heartbeat
	do       func()
}

// take hands out an unused message of a method. Each method has its own, because what a message carries
// keeps its memory: were they to change places, every report would end up with room for a snapshot.
func (s *Simulation) take(of method) *message {
	m := s.free[of]
	if m == nil {
		return &message{method: of}
	}
	s.free[of], m.next = m.next, nil
	return m
}

// release keeps a message for the next use; its slices keep their memory.
func (s *Simulation) release(m *message) {
	m.echo, m.failed, m.unsent, m.code, m.after = false, false, false, 0, 0
	m.delta, m.do = nil, nil
	m.next = s.free[m.method]
	s.free[m.method] = m
}
