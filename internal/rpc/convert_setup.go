package rpc

import (
	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) setup(s cluster.Setup) *dodoor.Setup {
	batch, seed := int64(s.Batch), int64(s.Seed)
	return &dodoor.Setup{Name: optional(&s.Name), Version: optionalText(s.Version), Digest: optional(&s.Digest),
		Incarnation: &s.Incarnation, Batch: &batch, Policy: optional(&s.Policy), Seed: &seed}
}

func (d *decoder) setup(w *dodoor.Setup) (s cluster.Setup) {
	if w == nil {
		d.missing("setup")
		return s
	}
	s.Name, s.Version, s.Digest = d.optionalName("name", w.Name), d.text("version", w.Version), d.optionalName("digest", w.Digest)
	s.Incarnation = d.incarnation("incarnation", w.Incarnation)
	s.Batch = int(d.count("batch", w.Batch))
	s.Policy, s.Seed = d.optionalName("policy", w.Policy), uint64(d.any64("seed", w.Seed))
	return s
}

// policy checks the name of one.
func (d *decoder) policy(w string) string { return d.name("policy", &w) }
