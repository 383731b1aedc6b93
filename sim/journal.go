package sim

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"time"

	"dodoor/scheduler"
)

// disk is what a scheduler's processes leave to each other.
type disk struct {
	keys    map[string][]byte
	full    int  // faults for which it has no room
	stopped bool // the process ended because of that
}

// syncTakes is how long it takes until a group of changes is durable.
const syncTakes = 3 * time.Millisecond

// writer makes what one process of a scheduler must not forget durable, a group at a time.
type writer struct {
	group   []scheduler.Change
	writing bool
	durable int64      // position
	waiting []*message // handled, to be answered once their positions are durable
	until   []int64    // the positions
	cancels []scheduler.CancelCall
}

// keeps reports whether schedulers have journals.
func (s *Simulation) keeps() bool { return s.cfg.Replica.Keeps }

// each gives a new process what the journal holds, in the order of its keys.
func (k *disk) each(yield func(key string, value []byte) error) error {
	for _, key := range slices.Sorted(maps.Keys(k.keys)) {
		if err := yield(key, k.keys[key]); err != nil {
			return err
		}
	}
	return nil
}

// apply makes a group durable.
func (k *disk) apply(group []scheduler.Change) {
	if k.keys == nil {
		k.keys = map[string][]byte{}
	}
	for i := range group {
		switch c := &group[i]; {
		case c.Value != nil:
			k.keys[c.Key] = bytes.Clone(c.Value)
		case c.All:
			maps.DeleteFunc(k.keys, func(key string, _ []byte) bool { return strings.HasPrefix(key, c.Key) })
		default:
			delete(k.keys, c.Key)
		}
	}
}

// newReplica returns a replica that goes on from its journal, where it has one.
func (d *schedulerShell) newReplica(now time.Duration, cfg scheduler.Config, policy scheduler.Policy) (*scheduler.Replica, error) {
	if !cfg.Keeps {
		return scheduler.New(cfg, policy)
	}
	cfg.Epoch = int64(epoch + now + d.offset)
	return scheduler.Restore(cfg, policy, d.disk.each)
}

// epoch is what clocks say when a run begins.
const epoch = 365 * 24 * time.Hour

// introduceItself makes the first changes of a process durable, before anybody hears of it.
func (d *schedulerShell) introduceItself() {
	if d.sim.keeps() {
		changes, upTo := d.replica.Changes(nil)
		d.disk.apply(changes)
		d.replica.Synced(upTo)
		d.writer.durable = upTo
	}
}

// keep begins to write what has changed, unless a group is under way.
func (d *schedulerShell) keep() {
	w := &d.writer
	if !d.sim.keeps() || w.writing || d.replica.Recorded() == w.durable {
		return
	}
	changes, upTo := d.replica.Changes(w.group[:0])
	w.group, w.writing = changes, true
	process := d.epoch
	d.sim.later(syncTakes, func() {
		if d.up && d.epoch == process {
			d.synced(upTo)
		}
	})
}

// synced takes note that a group is durable, or that there was no room for it: then the process ends.
func (d *schedulerShell) synced(upTo int64) {
	w := &d.writer
	if d.disk.full > 0 {
		d.disk.stopped = true
		d.sim.faults.kill(d.sim.faults.scheduler(d.index))
		return
	}
	d.disk.apply(w.group)
	d.replica.Synced(upTo)
	w.writing, w.durable = false, upTo
	n := 0
	for n < len(w.until) && w.until[n] <= upTo {
		d.sim.respond(w.waiting[n], &d.service)
		n++
	}
	w.waiting, w.until = slices.Delete(w.waiting, 0, n), slices.Delete(w.until, 0, n)
	w.cancels = slices.DeleteFunc(w.cancels, func(call scheduler.CancelCall) bool {
		leaves := d.replica.Leaves(&call)
		if leaves && d.replica.Stands(&call) {
			d.stop(&call)
		}
		return leaves
	})
	for i := range d.peers {
		if d.peers[i].node >= 0 {
			d.advance(i)
		}
	}
	d.sim.collect(d.index)
	d.keep()
}

// defers keeps the answer to a request until what it tells is durable.
func (d *schedulerShell) defers(m *message) bool {
	w := &d.writer
	if !d.sim.keeps() || m.method == push || d.replica.Recorded() <= w.durable {
		return false
	}
	w.waiting, w.until = append(w.waiting, m), append(w.until, d.replica.Recorded())
	return true
}

// forsake ends what waited for the journal of a process that died.
func (d *schedulerShell) forsake() {
	for _, m := range d.writer.waiting {
		m.failed = true
		d.sim.answer(m)
	}
	d.writer = writer{}
}
