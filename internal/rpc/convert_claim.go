package rpc

import (
	"math"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) claims(q *cluster.ClaimRequest) *dodoor.ClaimRequest {
	w := &dodoor.ClaimRequest{Scheduler: e.schedulerRef(&q.Scheduler), NodeIncarnation: &q.NodeIncarnation}
	for i := range q.Claims {
		c := &q.Claims[i]
		w.Claims = append(w.Claims, &dodoor.Claim{TaskID: &c.TaskID, Number: &c.Number})
	}
	return w
}

func (d *decoder) claims(w *dodoor.ClaimRequest) (q cluster.ClaimRequest) {
	if w == nil {
		d.missing("request")
		return q
	}
	q.Scheduler = d.wholeSchedulerRef(w.Scheduler)
	q.NodeIncarnation = d.incarnation("node_incarnation", w.NodeIncarnation)
	n := d.length("claims", len(w.Claims), maxItems)
	for i, c := range w.Claims[:n] {
		d.enter("claims", i)
		q.Claims = append(q.Claims, cluster.Claim{TaskID: d.name("task_id", c.TaskID), Number: d.between("number", c.Number, 1, math.MaxInt64)})
		d.leave()
		if d.err != nil {
			return q
		}
	}
	return q
}

func (e encoder) holdings(holdings []cluster.Holding) []dodoor.Holding {
	w := make([]dodoor.Holding, len(holdings))
	for i, h := range holdings {
		w[i] = dodoor.Holding(h)
	}
	return w
}

func (d *decoder) holdings(w []dodoor.Holding) (holdings []cluster.Holding) {
	n := d.length("holdings", len(w), maxItems)
	for i := range n {
		d.enter("holdings", i)
		holdings = append(holdings, enum(d, "what", &w[i], cluster.Gone))
		d.leave()
	}
	return holdings
}
