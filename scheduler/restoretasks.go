package scheduler

import (
	"cmp"
	"slices"
	"strings"

	"dodoor/internal/cluster"
)

// restoreTasks opens the tasks again that have not ended. Those with a placement are where that says, the others wait for one.
func (x *restorer) restoreTasks() error {
	r := x.r
	slices.SortFunc(x.tasks, byKey)
	all := make([]*task, 0, len(x.tasks))
	for i := range x.tasks {
		p := &x.tasks[i]
		t, err := x.task(p)
		if err != nil {
			return err
		}
		all = append(all, t)
		p.value = nil
	}
	slices.SortFunc(all, byReceipt)
	for _, t := range all {
		if j := t.batch.job; j != nil {
			if _, e := j.find(t.index); e != nil {
				return broken(taskKey(t.spec.ID), "job %.80q has another task with index %d", j.ID, t.index)
			}
		}
		r.hold(t)
		r.opened(t)
		if t.cancel {
			r.cancelling++
		}
		if t.phase == cluster.Placing {
			t.troubled().waiting = began
			r.unplaced = append(r.unplaced, t)
		}
	}
	return x.restoreNodes(all)
}

// task makes one task again.
func (x *restorer) task(p *pair) (*task, error) {
	var k openTask
	if err := unpackValue(p.key, p.value, func(p *packer) { p.open(&k) }); err != nil {
		return nil, err
	}
	id := p.rest
	if id == "" || k.attempts < 0 || k.attempt < 0 || k.reckon < 0 || k.index < 0 || min(k.refusals, k.losses, k.failures) < 0 ||
		!entries(k.entries).are(k.batch.lists) {
		return nil, broken(p.key, "index %d, %d attempts, %d entries", k.index, k.attempts, k.batch.lists)
	}
	b, err := x.batch(p.key, id, &k.batch)
	if err != nil {
		return nil, err
	}
	if b.template != nil {
		b = alike(x.r.latestOf(b.job), b)
	}
	t := &task{batch: b, entries: entries(strings.Clone(k.entries)), index: k.index, received: min(x.r.since(k.received), 0), view: k.view,
		attempts: k.attempts, cancel: k.cancel, phase: cluster.Placing, node: NoNode,
		spec: cluster.Task{ID: id, Seed: cluster.HashID(id), Kind: &b.Kind, Attempt: k.attempt, Reckon: float32(k.reckon)}}
	return t, x.place(p.key, t, &k)
}

// place says where a task was placed, and what happened to it.
func (x *restorer) place(key string, t *task, k *openTask) error {
	on, err := x.placement(key, &k.latest)
	if err != nil {
		return err
	}
	t.worker, t.incarnation, t.number = on.worker, on.incarnation, on.number
	if k.held {
		w, known := x.workers[k.latest.worker]
		if !known || w.Incarnation != on.incarnation || w.Class != k.latest.class || on.number == 0 {
			return broken(key, "it is on incarnation %d of worker %.80q, class %.80q, as placement %d, and the worker is not kept as such",
				on.incarnation, k.latest.worker, k.latest.class, on.number)
		}
		t.phase, t.node = cluster.Sent, x.node(&w)
	}
	if k.reason == "" && len(k.earlier) == 0 && k.refusals+k.losses+k.failures == 0 {
		return nil
	}
	t.trouble = &trouble{refusals: k.refusals, losses: k.losses, failures: k.failures, reason: strings.Clone(k.reason),
		requested: k.requested}
	for i := range k.earlier {
		on, err := x.placement(key, &k.earlier[i])
		if err != nil {
			return err
		}
		t.trouble.earlier = append(t.trouble.earlier, on)
	}
	return nil
}

// placement has the worker of a placement numbered again.
func (x *restorer) placement(key string, o *openPlacement) (placedOn, error) {
	if o.worker == "" {
		return placedOn{}, nil
	}
	if o.number < 0 || o.number > x.meta.ceiling || o.incarnation < 0 {
		return placedOn{}, broken(key, "placement %d of at most %d on incarnation %d of worker %.80q", o.number, x.meta.ceiling, o.incarnation,
			o.worker)
	}
	class := x.r.catalog.Class(x.word(o.class))
	return placedOn{x.r.workers.id(x.word(o.worker), class), o.incarnation, o.number, o.limit}, nil
}

// node returns the index of a worker that has open placements. It takes no others before it answers.
func (x *restorer) node(w *cluster.Node) int32 {
	r := x.r
	index, known := r.nodes.byName[w.Name]
	if !known {
		index = r.nodes.add(*w)
		n, class := &r.nodes.slots[index], r.catalog.Class(w.Class)
		n.id, n.kept, n.suspect, n.unconnected = r.workers.id(w.Name, class), true, true, true
		r.view.set(index, w.Name, class, w.Capacity, w.Slots)
		r.restored = true
	}
	return int32(index)
}

// restoreNodes notes what the workers are to be asked about.
func (x *restorer) restoreNodes(all []*task) error {
	for _, t := range all {
		if t.phase == cluster.Sent {
			n := &x.r.nodes.slots[t.node]
			n.claims = append(n.claims, cluster.Claim{TaskID: t.spec.ID, Number: t.number})
		}
	}
	for i := range x.r.nodes.slots {
		n := &x.r.nodes.slots[i]
		slices.SortFunc(n.claims, func(a, b cluster.Claim) int { return cmp.Compare(a.Number, b.Number) })
		for j := 1; j < len(n.claims); j++ {
			if n.claims[j].Number == n.claims[j-1].Number {
				return broken(taskKey(n.claims[j].TaskID), "task %.80q has the same placement on worker %.80q", n.claims[j-1].TaskID, n.Name)
			}
		}
	}
	return nil
}
