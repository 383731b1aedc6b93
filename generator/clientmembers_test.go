package generator

import (
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// knowledge is what a client knows of a scheduler, by a dumb account.
type knowledge struct {
	ref        cluster.SchedulerRef
	registered bool // what the data service knows

	missing  time.Duration // from the lists, since then
	left     bool
	dropped  bool
	down     bool
	since    time.Duration // it does not answer since then
	keeps    bool          // as it said
	rest     time.Duration
	failures int // of polls, in a row
	process  int64
	losses   int              // how often it was gone
	messages map[*Message]int // under way; how often it had been gone when they were posted
}

func (k *knowledge) fresh() {
	*k = knowledge{ref: k.ref, registered: k.registered, missing: Never, messages: map[*Message]int{}}
}

// begin starts a scheduler at an address of its own.
func (w *world) begin(name string) cluster.SchedulerRef {
	n := len(w.servers)
	ref := cluster.SchedulerRef{Name: name, Address: fmt.Sprint("address-", n), Incarnation: int64(n + 1)}
	w.servers, w.polls = append(w.servers, server{}), append(w.polls, nil)
	w.servers[n].restart()
	w.servers[n].keeps = w.keepers && rapid.Bool().Draw(w.T, "keeps")
	w.known = append(w.known, knowledge{ref: ref, registered: true})
	w.known[n].fresh()
	return ref
}

// mostServers is how many schedulers there are over time.
const mostServers = 6

// change lets a scheduler join, move, leave or return.
func (w *world) change(i int) {
	k := &w.known[i]
	others := slices.ContainsFunc(w.known, func(o knowledge) bool { return o.registered && o.ref.Name != k.ref.Name })
	switch kind := rapid.SampledFrom([]string{"join", "move", "leave", "return"}).Draw(w.T, "change"); {
	case len(w.servers) < mostServers && (kind == "join" || kind == "move"):
		name := fmt.Sprint(len(w.servers))
		if kind == "move" {
			name = k.ref.Name
			w.unregister(name)
		}
		w.joins = append(w.joins, len(w.servers))
		w.begin(name)
		w.list(allKnown) // it is known by its number: whoever joins next gets the next one
	case kind == "leave" && k.registered && others:
		w.unregister(k.ref.Name)
		w.servers[i].mood = Draining
	case kind == "return" && !k.registered:
		w.unregister(k.ref.Name)
		k.registered = true
		w.servers[i].mood = Unanswered
	}
}

// unregister takes a scheduler out of what the data service knows: names are unique there.
func (w *world) unregister(name string) {
	for i := range w.known {
		if w.known[i].ref.Name == name {
			w.known[i].registered = false
		}
	}
}

// What a data service knows: after a restart nobody, then some.
const (
	nobodyKnown = iota
	someKnown
	allKnown
)

// list tells the client who is registered.
func (w *world) list(how int) {
	var listed []cluster.SchedulerRef
	for i := range w.known {
		if k := &w.known[i]; k.registered && (how == allKnown || how == someKnown && rapid.Bool().Draw(w.T, "known")) {
			listed = append(listed, k.ref)
		}
	}
	for i := range w.known {
		k := &w.known[i]
		named := slices.ContainsFunc(listed, func(ref cluster.SchedulerRef) bool {
			return ref.Name == k.ref.Name && ref.Incarnation > k.ref.Incarnation
		})
		switch {
		case len(listed) == 0:
		case slices.Contains(listed, k.ref):
			if k.dropped {
				k.fresh()
				w.joins = append(w.joins, i)
			}
			k.left, k.missing = false, Never
		case k.missing == Never:
			k.missing, k.left = w.now, k.left || named
		default:
			k.left = k.left || named || w.now-k.missing >= absence
		}
	}
	w.step(w.client.Members(w.now, listed))
}

// moved checks who is connected and who is dropped.
func (w *world) moved(actions *Actions) {
	slices.SortFunc(actions.Join, func(a, b Member) int { return a.Scheduler - b.Scheduler })
	slices.Sort(w.joins)
	for i, m := range actions.Join {
		if i >= len(w.joins) || m.Scheduler != w.joins[i] || m.SchedulerRef != w.known[m.Scheduler].ref {
			w.Fatalf("%v join, want %v", actions.Join, w.joins)
		}
	}
	if len(actions.Join) != len(w.joins) {
		w.Fatalf("%v join, want %v", actions.Join, w.joins)
	}
	w.joins = nil
	for _, i := range actions.Drop {
		k := &w.known[i]
		if !k.left || k.dropped || w.polls[i] != nil || slices.ContainsFunc(w.messages, func(m *Message) bool { return m.Scheduler == i }) {
			w.Fatalf("scheduler %d is dropped: %+v", i, k)
		}
		for task, s := range w.owed {
			if s == i {
				w.Fatalf("scheduler %d is dropped, and owes the result of task %d", i, task)
			}
		}
		k.dropped = true
	}
}

// accepted takes note that a scheduler owes what a message carried, unless it was gone meanwhile.
func (w *world) accepted(m *Message) {
	k := &w.known[m.Scheduler]
	k.down, k.rest = false, 0
	for _, i := range m.Tasks {
		if w.ended[i] == 0 && k.messages[m] == k.losses {
			w.owed[i] = m.Scheduler
		}
	}
}

// silent takes note that a scheduler does not answer any more.
func (w *world) silent(scheduler int) {
	if k := &w.known[scheduler]; !k.down {
		k.down, k.since = true, w.now
		if !k.keeps {
			w.gone(scheduler)
		}
	}
}

// outlast takes note that what a silent scheduler keeps is not waited for any more.
func (w *world) outlast() {
	for s := range w.known {
		if k := &w.known[s]; k.down && k.keeps && w.now-k.since >= silence {
			w.gone(s)
		}
	}
}

// gone takes note that a scheduler owes nothing any more.
func (w *world) gone(scheduler int) {
	w.known[scheduler].losses++
	for i, s := range w.owed {
		if s == scheduler {
			delete(w.owed, i)
		}
	}
}

// answered takes note of the answer to a poll: perhaps of another process than before.
func (w *world) answered(scheduler int) {
	k, s := &w.known[scheduler], &w.servers[scheduler]
	if k.process != s.incarnation && (k.process != 0 || k.failures > 0) {
		w.gone(scheduler)
	}
	if k.down {
		k.down, k.rest = false, 0
	}
	k.failures, k.process, k.keeps = 0, s.incarnation, s.keeps
}

// farewell checks, when every task has ended, that who left is dropped at its next answer.
func (w *world) farewell() {
	for i := range w.known {
		if k := &w.known[i]; k.left && !k.dropped {
			if w.answer(i, arrives); !k.dropped {
				w.Fatalf("scheduler %d left, owes nothing, and is asked on", i)
			}
		}
	}
}
