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
	auditMost  = 65_536      // tasks that one answer can list
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
	list, err := p.client.Tasks(ctx, cluster.TaskQuery{Max: auditMost})
	if err != nil || len(list) >= auditMost {
		return // out of reach, or too many to tell: the next time
	}
	held := make(map[string]bool, len(list))
	for i := range list {
		held[list[i].ID] = true
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.perform(d.replica.Audited(d.now(), p.index, p.node.Incarnation, asOf, func(id string) bool { return held[id] }))
}
