package worker

import (
	"fmt"
	"slices"

	"dodoor/internal/cluster"
)

// each is what an execution takes of each of its GPUs, and of how many.
func (x *exec) each() (thousandths int64, of int) {
	demand := x.shape.Demand[cluster.FirstExtra]
	switch {
	case demand == 0:
		return 0, 0
	case demand < 1000:
		return demand, 1
	}
	return 1000, int(demand / 1000)
}

// used adds up what is taken of a GPU.
func (o *oracle) used(id string) (sum int64) {
	for _, x := range o.running {
		if each, _ := x.each(); slices.Contains(x.gpus, id) {
			sum += each
		}
	}
	return sum
}

// everFits is the rule of what is refused.
func (o *oracle) everFits(demand *cluster.Resources) bool {
	gpus := demand[cluster.FirstExtra]
	return demand.FitsIn(&o.cfg.Node.Capacity) && (gpus <= 1000 || gpus%1000 == 0)
}

// gpusFor reports whether there is any choice of GPUs for x.
func (o *oracle) gpusFor(x *exec) bool {
	each, of := x.each()
	room := 0
	for _, id := range o.cfg.Devices["gpu"].IDs {
		if o.used(id)+each <= 1000 {
			room++
		}
	}
	return room >= of
}

// give notes which GPUs the node chose for x, and whether that may be.
func (o *oracle) give(x *exec) {
	each, of := x.each()
	x.gpus = o.got[x.id]
	if len(x.gpus) != of {
		o.wrong = fmt.Errorf("%s got %v, not %d GPUs", x.id, x.gpus, of)
	}
	for i, id := range x.gpus {
		switch {
		case !slices.Contains(o.cfg.Devices["gpu"].IDs, id) || slices.Contains(x.gpus[:i], id):
			o.wrong = fmt.Errorf("%s got %v", x.id, x.gpus)
		case o.used(id)+each > 1000:
			o.wrong = fmt.Errorf("%s got %v, of which %s is in use", x.id, x.gpus, id)
		}
	}
}

// learn notes what the node gave to those that start.
func (o *oracle) learn(actions Actions) {
	for _, s := range actions.Start {
		o.got[s.TaskID] = nil
		for _, d := range s.Devices {
			o.got[s.TaskID] = d.IDs
		}
	}
}
