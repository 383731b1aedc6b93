package sim

import (
	"slices"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// poll is the question for results that a scheduler has before it. It costs no scheduler's time until there
// is one, so the generator asks all the time, and results reach it at once.
type poll struct {
	generator.Poll
	number  int // of the polls of its scheduler
	open    bool
	arrived bool
	until   time.Duration         // when it has arrived: it is answered then, with results or without
	ready   *cluster.CollectReply // to be told once it is durable; nil: nothing is yet
	upTo    int64                 // its position
}

// ask puts a poll before a scheduler, for as long as its answer may take.
func (g *generatorShell) ask(p generator.Poll) {
	at := &g.polls[p.Scheduler]
	*at = poll{Poll: p, number: at.number + 1, open: true}
	if number := at.number; len(g.sim.cfg.Faults) > 0 {
		g.sim.later(p.Wait+generator.AnswerWithin, func() {
			if g.polls[p.Scheduler].number == number {
				g.cut(int32(p.Scheduler), generator.Unanswered)
			}
		})
	}
}

func (g *generatorShell) askLater(p generator.Poll) {
	g.sim.later(p.At-g.sim.now, func() {
		g.ask(p)
		g.collect(int32(p.Scheduler))
	})
}

// collect has a scheduler answer the poll that it has before it, if there is something to say.
func (g *generatorShell) collect(sched int32) {
	d, p := &g.sim.schedulers[sched], &g.polls[sched]
	for p.open {
		switch {
		case !d.reachable():
			g.cut(sched, generator.Gone)
			return
		case d.stalls > 0:
			return
		case !p.arrived && (d.deaf > 0 || g.sim.faults.between.loses(clientsIndex, firstScheduler+int(sched))):
			g.cut(sched, generator.Unanswered)
			return
		}
		reply := g.answerTo(d, p)
		if reply == nil {
			return
		}
		if d.mute > 0 || g.sim.faults.between.loses(firstScheduler+int(sched), clientsIndex) {
			g.cut(sched, generator.Unanswered)
			return
		}
		p.open, p.ready = false, nil
		g.perform(g.client.Collected(g.sim.now, int(sched), reply))
	}
}

// answerTo is what a scheduler has to say to a poll; nil: nothing yet.
func (g *generatorShell) answerTo(d *schedulerShell, p *poll) *cluster.CollectReply {
	if p.ready != nil {
		if d.writer.durable < p.upTo {
			return nil
		}
		return p.ready
	}
	fresh := !p.arrived
	if fresh {
		p.arrived, p.until = true, g.sim.now+p.Wait
	}
	question := cluster.CollectRequest{Client: g.name, After: p.After, Incarnation: p.Incarnation, Max: p.Max}
	records, cursor, err := d.replica.Collect(g.reply.Records[:0], &question)
	for wanted := d.replica.Wanted(); len(wanted) > 0; wanted = d.replica.Wanted() {
		for _, key := range wanted {
			must(d.replica.Fetched(key, d.disk.keys[key], nil))
		}
		records, cursor, err = d.replica.Collect(g.reply.Records[:0], &question)
	}
	must(err)
	d.keep()
	for i := range records {
		records[i].Received += d.born
	}
	g.reply = cluster.CollectReply{Records: records, Cursor: cursor, Incarnation: d.replica.Memory(), Keeps: g.sim.keeps()}
	if len(records) == 0 && g.sim.now < p.until {
		if fresh && len(g.sim.cfg.Faults) > 0 {
			index := d.index
			g.sim.later(p.Wait, func() { g.collect(index) })
		}
		return nil
	}
	if g.sim.keeps() && d.replica.Recorded() > d.writer.durable {
		told := g.reply
		told.Records = slices.Clone(records)
		p.ready, p.upTo = &told, d.replica.Recorded()
		return nil
	}
	return &g.reply
}

// cut ends the poll that a scheduler has before it without an answer.
func (g *generatorShell) cut(sched int32, f generator.Failure) {
	if p := &g.polls[sched]; p.open {
		p.open, p.ready = false, nil
		g.perform(g.client.PollFailed(g.sim.now, int(sched), f, errGone))
	}
}
