package scheduler

import (
	"encoding/binary"
	"math"

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

// unpack returns the record. Its keeper knows whose it is.
func (p packed) unpack(user string) (r cluster.TaskRecord) {
	u := packer{from: string(p), unpacking: true}
	u.record(&r)
	r.User = user
	return r
}

// packer writes values one after the other, or reads them in the same order. What it reads may be broken: then all that
// follows is zero.
type packer struct {
	bytes     []byte
	from      string
	unpacking bool
	broken    bool
	layout    uint8 // of a value of a journal
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

func integer[T ~int | ~int32 | ~int64 | ~uint8](p *packer, v *T) {
	if !p.unpacking {
		p.bytes = binary.AppendVarint(p.bytes, int64(*v))
		return
	}
	n, size := binary.Varint([]byte(p.from[:min(len(p.from), binary.MaxVarintLen64)]))
	if size <= 0 || int64(T(n)) != n {
		p.fail()
		n, size = 0, 0
	}
	*v, p.from = T(n), p.from[size:]
}

func (p *packer) fail() { p.broken, p.from = true, "" }

func (p *packer) text(s *string) {
	length := len(*s)
	integer(p, &length)
	if !p.unpacking {
		p.bytes = append(p.bytes, *s...)
		return
	}
	if length < 0 || length > len(p.from) {
		p.fail()
		length = 0
	}
	*s, p.from = p.from[:length], p.from[length:]
}

// user is whose a task or job is. Layouts from before there were users have none.
func (p *packer) user(name *string) {
	if p.layout >= usersSince {
		p.text(name)
	}
}

func (p *packer) flag(b *bool) {
	var n uint8
	if *b {
		n = 1
	}
	integer(p, &n)
	*b = n != 0
}

// items reads how many items follow, each of a byte at least, or writes it.
func items[T any](p *packer, list *[]T) {
	n := len(*list)
	integer(p, &n)
	if !p.unpacking {
		return
	}
	if n < 0 || n > len(p.from) {
		p.fail()
		n = 0
	}
	*list = nil
	if n > 0 {
		*list = make([]T, n)
	}
}

func (p *packer) texts(list *[]string) {
	items(p, list)
	for i := range *list {
		p.text(&(*list)[i])
	}
}

// blob is text that is held as bytes.
func (p *packer) blob(b *[]byte) {
	s := ""
	if !p.unpacking {
		length := len(*b)
		integer(p, &length)
		p.bytes = append(p.bytes, *b...)
		return
	}
	if p.text(&s); s != "" {
		*b = []byte(s)
	}
}

// resources are written up to the last that is not zero.
func (p *packer) resources(r *cluster.Resources) {
	n := len(r)
	for !p.unpacking && n > 0 && r[n-1] == 0 {
		n--
	}
	integer(p, &n)
	if n < 0 || n > len(r) {
		p.fail()
		n = 0
	}
	for k := range n {
		integer(p, &r[k])
	}
}

func (p *packer) float(f *float64) {
	bits := int64(math.Float64bits(*f))
	integer(p, &bits)
	*f = math.Float64frombits(uint64(bits))
}
