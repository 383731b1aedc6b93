package schedulerd

import (
	"context"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/poll"
)

const (
	auditEvery = 30 * time.Second
	auditAge   = time.Minute // without news of a task
	auditMost  = 8192        // tasks that are asked for at a time
)

// audit asks workers now and then what they hold, where a task is without news for long.
func (d *Daemon) audit(ctx context.Context) {
	poll.Every(ctx, auditEvery, func() { d.auditNodes(ctx, auditAge) })
}

func (d *Daemon) auditNodes(ctx context.Context, age time.Duration) {
	d.mu.Lock()
	var peers []*peer
	for _, index := range d.replica.Overdue(d.now(), age) {
		if p := d.peers[index]; p != nil {
			peers = append(peers, p)
		}
	}
	d.mu.Unlock()
	for _, p := range peers {
		d.auditNode(ctx, p)
	}
}

func (d *Daemon) auditNode(ctx context.Context, p *peer) {
	asOf := d.now()
	held := map[string]bool{}
	for q := (cluster.TaskQuery{Max: auditMost}); ; {
		list, err := p.client.Tasks(ctx, q)
		if err != nil {
			return // out of reach: the next time
		}
		known := len(held)
		for i := range list {
			held[list[i].ID] = true
		}
		if len(held) == known {
			break // the last page, or a worker that knows no pages
		}
		q.After = list[len(list)-1].ID
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.perform(d.replica.Audited(d.now(), p.index, p.node.Incarnation, asOf, func(id string) bool { return held[id] }))
}
