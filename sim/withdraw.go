package sim

// withdrawals puts on the clock when a client asks for the ends of its tasks.
func (g *generatorShell) withdrawals() {
	if g.sim.cfg.Fate == nil {
		return
	}
	for i := range g.len() {
		id := g.sim.cfg.Workload.ID(g.task(int32(i)))
		if at := g.sim.cfg.Fate(id).Withdrawn; at > 0 {
			g.sim.later(at-g.sim.now, func() { g.withdraw(id) })
		}
	}
}

// withdraw asks every scheduler to end a task, once: whichever has it.
func (g *generatorShell) withdraw(id string) {
	for i := range g.sim.schedulers {
		m := g.sim.take(withdraw)
		m.client, m.sched, m.node, m.taskID = g.index, int32(i), -1, id
		g.sim.witnessWithdrawal(g.name, m, false)
		g.sim.send(m)
	}
}

// withdrawn is the handler of such a request.
func (d *schedulerShell) withdrawn(m *message) {
	actions, found := d.replica.Cancel(d.now(), m.taskID)
	m.found = found
	d.perform(actions)
}

// withdrawalAnswered takes the answer. Nobody asks again when there is none.
func (g *generatorShell) withdrawalAnswered(m *message) {
	if !m.failed {
		g.sim.witnessWithdrawal(g.name, m, true)
	}
}
