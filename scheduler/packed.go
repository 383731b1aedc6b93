package scheduler

import (
	"encoding/binary"

	"dodoor/internal/cluster"
)

// packed is a record that only queries may still ask for. A replica keeps very many of them: packed, one
// takes a quarter of the memory, and the garbage collector has nothing to look for in it.
type packed string

// pack packs a record; scratch is used on the way, and returned for the next one.
func pack(r *cluster.TaskRecord, scratch []byte) (packed, []byte) {
	p := packer{bytes: scratch[:0]}
	p.record(r)
	return packed(p.bytes), p.bytes
}

func (p packed) unpack() (r cluster.TaskRecord) {
	u := packer{from: string(p), unpacking: true}
	u.record(&r)
	return r
}

// packer writes values one after the other, or reads them in the same order.
type packer struct {
	bytes     []byte
	from      string
	unpacking bool
}

func (p *packer) record(r *cluster.TaskRecord) {
	for _, s := range [...]*string{&r.ID, &r.Type, &r.Mode, &r.Scheduler, &r.Worker, &r.Class, &r.Reason, &r.Output} {
		p.text(s)
	}
	for k := range r.Demand {
		integer(p, &r.Demand[k])
	}
	integer(p, &r.Estimate)
	integer(p, &r.Received)
	integer(p, &r.Scheduling)
	integer(p, &r.Wait)
	integer(p, &r.Run)
	integer(p, &r.Makespan)
	integer(p, &r.Attempts)
	integer(p, &r.Outcome)
	integer(p, &r.ExitCode)
	integer(p, &r.CPU)
	integer(p, &r.PeakMemory)
	integer(p, &r.Startup)
	integer(p, &r.Printed)
	integer(p, &r.ViewDecisions)
	p.flag(&r.OutOfMemory)
}

func integer[T ~int | ~int64 | ~uint8](p *packer, v *T) {
	if !p.unpacking {
		p.bytes = binary.AppendVarint(p.bytes, int64(*v))
		return
	}
	n, size := binary.Varint([]byte(p.from[:min(len(p.from), binary.MaxVarintLen64)]))
	*v, p.from = T(n), p.from[size:]
}

func (p *packer) text(s *string) {
	length := len(*s)
	integer(p, &length)
	if !p.unpacking {
		p.bytes = append(p.bytes, *s...)
		return
	}
	*s, p.from = p.from[:length], p.from[length:]
}

func (p *packer) flag(b *bool) {
	var n uint8
	if *b {
		n = 1
	}
	integer(p, &n)
	*b = n != 0
}
