package scheduler

import (
	"bytes"
	"maps"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// disk is what a journal adds up to.
type disk map[string][]byte

// apply carries changes out, as a store does.
func (d disk) apply(changes []Change) {
	for _, c := range changes {
		switch {
		case c.Value != nil:
			d[c.Key] = bytes.Clone(c.Value)
		case c.All:
			maps.DeleteFunc(d, func(key string, _ []byte) bool { return len(key) >= len(c.Key) && key[:len(c.Key)] == c.Key })
		default:
			delete(d, c.Key)
		}
	}
}

// each yields the pairs in no order at all.
func (d disk) each(yield func(key string, value []byte) error) error {
	for key, value := range d {
		if err := yield(key, value); err != nil {
			return err
		}
	}
	return nil
}

// sync makes all changes of a replica durable.
func (d disk) sync(r *Replica) {
	changes, upTo := r.Changes(nil)
	d.apply(changes)
	r.Synced(upTo)
}

// keeping is the configuration of a process of a replica that keeps what it must, which began at a moment since the Unix epoch.
func keeping(cfg Config, incarnation int64, began time.Duration) Config {
	cfg.Keeps, cfg.Incarnation, cfg.Epoch, cfg.RosterGrace = true, incarnation, int64(began), 3*time.Second
	return cfg
}

func restored(t testing.TB, cfg Config, p Policy, d disk) *Replica {
	t.Helper()
	r, err := Restore(cfg, p, d.each)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// dump is everything that a replica must not forget, less the workers, said at once: what its changes have to add up to.
func dump(r *Replica) disk {
	real := r.journal
	r.journal = journal{on: true, ran: real.ran, lineage: real.lineage, incarnation: real.incarnation, ceiling: real.ceiling}
	r.journal.putMeta()
	for _, t := range r.tasks {
		r.putTask(t)
	}
	for _, t := range r.templates.byDigest {
		if t.refs > 0 {
			r.journal.put(templateKey(t.digest), func(p *packer) { p.template(t.shared) })
		}
	}
	for _, j := range r.jobs.byID {
		r.putJob(j)
		j.from(0, false, func(e *entry) bool {
			if e.outcome != cluster.NoOutcome {
				r.keepEntry(j, e.index)
			}
			return true
		})
	}
	for _, e := range slices.Concat(r.results.claimed.ring, r.results.others.ring) {
		if !e.absent && (!e.collected || e.client == nil) {
			name := ""
			if e.client != nil {
				name = e.client.name
			}
			record := r.endedStatus(e).Record
			r.keepResult(e.at, name, e.in, e.cursor, record)
		}
	}
	all := disk{}
	all.apply(r.journal.changes)
	r.journal = real
	return all
}

// differs says how what is kept differs from what there is to be kept; empty: it does not. Templates that nobody refers to
// any more may stay until the next tick.
func (d disk) differs(r *Replica, but ...string) string {
	want := dump(r)
	for key, value := range d {
		switch {
		case key[:1] == keyResult && r.results.claimed.absentAt(cursorOf(key[1:])) != nil:
		case key[:1] == keyWorker, slices.Contains(but, key), key[:1] == keyTemplate && r.templates.byDigest[key[1:]] != nil:
		case want[key] == nil:
			return "it keeps " + key + " for nothing"
		case !bytes.Equal(want[key], value):
			return "it keeps an older " + key + ":\n" + string(value) + "\n" + string(want[key])
		}
	}
	for _, e := range r.results.claimed.ring {
		if key := resultKey(e.cursor); e.absent && d[key] == nil {
			return "it does not keep " + key
		}
	}
	for key := range want {
		if d[key] == nil {
			return "it does not keep " + key
		}
	}
	for _, t := range r.tasks {
		if n, held := r.nodes.at(int(t.node), t.incarnation); held && d[workerKey(n.Name)] == nil {
			return "it does not keep worker " + n.Name
		}
	}
	return ""
}

// A large group leaves no large memory to the small ones that follow.
func TestABurstGivesItsMemoryBack(t *testing.T) {
	r := Replica{journal: journal{on: true}}
	r.journal.put(keyMeta, func(p *packer) { p.bytes = append(p.bytes, make([]byte, 2*mostSpare)...) })
	for range 3 {
		r.Changes(nil)
	}
	if kept := cap(r.journal.told) + cap(r.journal.packer.bytes); kept > 2*mostSpare {
		t.Errorf("%d bytes are kept", kept)
	}
}
