package worker

import (
	"sort"
	"time"
)

// queue is the node's waiting line. "Tasks are considered in First-Come First-Served (FCFS) order"
// and "if the head-of-queue task cannot be admitted, it blocks until active tasks release sufficient
// resources" (Sec. 4.2): nothing overtakes the head, however small. Overtaking would use the node
// better now, but a large task could then wait for ever behind a stream of small ones, and the
// schedulers' estimate of the wait (the durations queued before a task) would mean nothing.
type queue struct {
	waiting ring[*task]
	joined  int64 // tasks, ever

	// Head-of-line blocking: admission is immediate, so the head is blocked whenever there is one.
	blocked      time.Duration // cumulative, up to blockedSince
	blockedSince time.Duration // meaningful while somebody waits
}

func (q *queue) len() int { return q.waiting.len() }

// head returns the oldest waiting task, or nil.
func (q *queue) head() *task {
	if q.waiting.len() == 0 {
		return nil
	}
	return *q.waiting.at(0)
}

func (q *queue) push(now time.Duration, t *task) {
	if q.len() == 0 {
		q.blockedSince = now
	}
	t.turn = q.joined
	q.joined++
	q.waiting.push(t)
}

func (q *queue) pop(now time.Duration) {
	q.waiting.pop()
	q.unblock(now)
}

// remove takes t out of the line, wherever it stands.
func (q *queue) remove(now time.Duration, t *task) {
	q.waiting.remove(q.ahead(t))
	q.unblock(now)
}

// ahead is how many tasks stand before t, which is in the line.
func (q *queue) ahead(t *task) int {
	return sort.Search(q.waiting.len(), func(i int) bool { return (*q.waiting.at(i)).turn >= t.turn })
}

func (q *queue) unblock(now time.Duration) {
	if q.len() == 0 {
		q.blocked += now - q.blockedSince
	}
}

// blockedUntil returns for how long, in all, a head has waited.
func (q *queue) blockedUntil(now time.Duration) time.Duration {
	if q.len() == 0 {
		return q.blocked
	}
	return q.blocked + now - q.blockedSince
}
