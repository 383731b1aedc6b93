package scheduler

import (
	"dodoor/internal/cluster"
)

// keptMeta is what is known of a journal as a whole.
type keptMeta struct {
	lineage     int64 // incarnation of the first process
	incarnation int64 // of the last
	ceiling     int64 // no process gave a number or a cursor above it
}

func (p *packer) meta(m *keptMeta) {
	integer(p, &m.lineage)
	integer(p, &m.incarnation)
	integer(p, &m.ceiling)
}

func (p *packer) worker(n *cluster.Node) {
	for _, s := range [...]*string{&n.Name, &n.Address, &n.Class} {
		p.text(s)
	}
	p.resources(&n.Capacity)
	integer(p, &n.Slots)
	integer(p, &n.Incarnation)
}

func (p *packer) template(t *cluster.Template) {
	p.texts(&t.Argv)
	p.texts(&t.Env)
	p.blob(&t.Script)
	p.text(&t.Image)
	p.text(&t.Workdir)
	p.blob(&t.Stdin)
	integer(p, &t.TimeLimit)
}

// kept is a batch, or what it takes to make one again: the profile of its type is that of the configuration of the day.
type kept struct {
	cluster.Kind
	auto   auto
	lists  int
	client string
	user   string
	digest string // empty: it has no command
	job    string // empty: none
}

func keep(b *batch) kept {
	k := kept{Kind: b.Kind, auto: b.auto, lists: b.lists, client: b.client, user: b.user}
	if b.template != nil {
		k.digest = b.template.digest
	}
	if b.job != nil {
		k.job = b.job.ID
	}
	return k
}

func (p *packer) batch(k *kept) {
	for _, s := range [...]*string{&k.client, &k.digest, &k.job, &k.Type, &k.Mode} {
		p.text(s)
	}
	integer(p, &k.lists)
	p.resources(&k.Uniform.Demand)
	integer(p, &k.Uniform.Duration)
	for _, b := range [...]*bool{&k.HasUniform, &k.Says, &k.AtMostOnce, &k.auto.cores, &k.auto.memory} {
		p.flag(b)
	}
	p.float(&k.TimeScale)
	p.user(&k.user)
}

// openTask is a task that has not ended, with names for what a process numbers.
type openTask struct {
	batch    kept
	index    int64
	entries  string
	received int64 // since the Unix epoch, as every moment that is kept
	view     int64
	attempts int32
	attempt  int32
	reckon   int64
	cancel   bool
	held     bool // the latest placement is not given up
	latest   openPlacement
	earlier  []openPlacement

	refusals, losses, failures int
	reason                     string
	requested                  bool
}

// openPlacement is a placement that may still end, or, with number 0, the worker of one that has.
type openPlacement struct {
	worker, class       string
	incarnation, number int64
	limit               need
}

func (p *packer) open(t *openTask) {
	p.batch(&t.batch)
	integer(p, &t.index)
	p.text(&t.entries)
	integer(p, &t.received)
	integer(p, &t.view)
	integer(p, &t.attempts)
	integer(p, &t.attempt)
	integer(p, &t.reckon)
	p.flag(&t.cancel)
	p.flag(&t.held)
	p.placement(&t.latest)
	items(p, &t.earlier)
	for i := range t.earlier {
		p.placement(&t.earlier[i])
	}
	integer(p, &t.refusals)
	integer(p, &t.losses)
	integer(p, &t.failures)
	p.text(&t.reason)
	p.flag(&t.requested)
}

func (p *packer) placement(o *openPlacement) {
	p.text(&o.worker)
	if o.worker == "" {
		return
	}
	p.text(&o.class)
	integer(p, &o.incarnation)
	integer(p, &o.number)
	integer(p, &o.limit.cores)
	integer(p, &o.limit.memory)
}

// keptResult is the record of a task that has ended.
type keptResult struct {
	client string // empty: nobody collects it
	in     inJob
	at     int64 // end, in the time that all processes ran: a client gets its time also when they were away
	record cluster.TaskRecord
}

func (p *packer) result(r *keptResult) {
	p.text(&r.client)
	p.text(&r.in.job)
	integer(p, &r.in.index)
	integer(p, &r.at)
	p.record(&r.record)
	p.user(&r.record.User)
}

// keptJob is a job, less its tasks.
type keptJob struct {
	cluster.Job
	retried, fails int64
	why            string
	last           int64 // 0: no task has ended
	sweeping       bool
	sweep, until   int64
	retrying       bool
	retry          int64
}

func (p *packer) job(j *keptJob) {
	p.text(&j.ID)
	p.text(&j.Name)
	p.text(&j.Text)
	integer(p, &j.Tasks)
	integer(p, &j.Submitted)
	integer(p, &j.Retries)
	integer(p, &j.CrashLimit)
	integer(p, &j.MaxFails)
	for _, n := range [...]*int64{&j.retried, &j.fails, &j.last, &j.sweep, &j.until, &j.retry} {
		integer(p, n)
	}
	p.text(&j.why)
	p.flag(&j.sweeping)
	p.flag(&j.retrying)
	p.user(&j.User)
}

// keptEntry is a task of a job that has ended.
type keptEntry struct {
	entry
	id            string // empty: the usual one
	worker, class string
	again         bool // it can run again: batch and entries say as what
	batch         kept
	entries       string
}

func (p *packer) entry(e *keptEntry) {
	p.text(&e.id)
	p.text(&e.worker)
	p.text(&e.class)
	integer(p, &e.run)
	integer(p, &e.printed)
	integer(p, &e.exit)
	integer(p, &e.attempts)
	integer(p, &e.outcome)
	if p.flag(&e.again); e.again {
		p.batch(&e.batch)
		p.text(&e.entries)
	}
}
