package drive

import (
	"context"

	"dodoor/generator"
)

// join connects to a scheduler that takes part from now on. The caller holds the lock.
func (r *run) join(m *generator.Member) {
	target := r.cfg.Connect(m.SchedulerRef)
	if _, former := r.info.Before.Schedulers[target.Name]; former {
		target.Name += "@" + target.Address // the former process's counters are missing at the end, and said to be
	}
	p := r.newPeer(m.Scheduler, target)
	if m.Scheduler == len(r.peers) {
		r.peers = append(r.peers, nil)
	}
	r.peers[m.Scheduler] = p
	r.all.Go(func() {
		p.note()
		p.serve()
	})
}

// drop ends what is done with a scheduler that left. The caller holds the lock.
func (r *run) drop(scheduler int) {
	r.peers[scheduler].leave()
	r.peers[scheduler] = nil
}

// note keeps what a scheduler had counted before its first task of this run.
func (p *peer) note() {
	ctx, cancel := context.WithTimeout(p.calls, askTimeout)
	defer cancel()
	counts, err := p.Service.Counters(ctx)
	if err != nil {
		return // it counts as one that has just started
	}
	p.run.mu.Lock()
	defer p.run.mu.Unlock()
	p.run.info.Before.Schedulers[p.Name] = counts
}

// present lists the schedulers that have not left.
func (r *run) present() (all []Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.peers {
		if p != nil {
			all = append(all, p.Target)
		}
	}
	return all
}
