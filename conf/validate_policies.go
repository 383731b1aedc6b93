package conf

func (p *DodoorPlus) validate(r *report) {
	oneOf(r, "dodoor_plus.score", p.Score, "ect", "ldn")
	oneOf(r, "dodoor_plus.view", p.View, "fresh", "snapshot")
	between(r, "dodoor_plus.foreign", p.Foreign, 0, 64)
	between(r, "dodoor_plus.gain", p.Gain, 0, 0.99)
	if !p.Home && p.Foreign == 0 {
		r.add("dodoor_plus.foreign", "must be at least 1 with dodoor_plus.home = false, found 0: nothing would be compared")
	}
}

func (p *Prequal) validate(r *report) {
	above(r, "prequal.probes", p.Probes, 0, float64(p.Pool))
	between(r, "prequal.pool", p.Pool, 2, 1024)
	between(r, "prequal.q_rif", p.QRIF, 0, 1)
	between(r, "prequal.remove", p.Remove, 0, float64(p.Pool))
	between(r, "prequal.delta", p.Delta, 0, 100)
	if p.Reuse != 0 && !(p.Reuse >= 1 && p.Reuse <= 16) {
		r.add("prequal.reuse", "must be 0 (the formula) or between 1 and 16, found %v", p.Reuse)
	}
	span(r, "prequal.age_limit", p.AgeLimit)
	oneOf(r, "prequal.latency", p.Latency, "history", "pending")
}
