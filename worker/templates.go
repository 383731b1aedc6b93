package worker

import (
	"container/list"
	"fmt"
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// keepTemplates bounds the memory of templates that no held task uses, in bytes. Of those the most recently used are kept.
const keepTemplates = 16 << 20

// templateCost is about what a template takes beyond its own parts.
const templateCost = 512

// refusedFor is how long it stays true that a template may not run here: a program can be installed meanwhile.
const refusedFor = time.Minute

// The executors of commands, where the configuration names none for all tasks.
const (
	processExecutor = "process"
	dockerExecutor  = "docker"
)

// templates is what the node knows of the programs that tasks bring along, by digest.
type templates struct {
	known map[string]*template
	idle  list.List // of *template: unused, the most recently used first
	bytes int       // of the idle ones
}

// template is one of them, resolved for this node.
type template struct {
	*cluster.Template
	digest  string
	program program       // of the tasks that use it
	uses    int           // held tasks
	place   *list.Element // among the idle ones, without uses

	refusals map[string]refusal // by user: of those who have asked
}

// refusal is why a template may not run here for somebody; empty: it may.
type refusal struct {
	why    string
	judged time.Duration
}

// find returns the template of a command: known already, or new. It is nil when the command names one that is not known.
func (n *Node) find(now time.Duration, user string, c *cluster.Command) *template {
	digest := c.Name()
	t := n.templates.known[digest]
	if t == nil {
		if c.Template == nil {
			return nil
		}
		t = &template{Template: c.Template, digest: digest, refusals: map[string]refusal{}}
		n.templates.known[digest] = t
	}
	if r, asked := t.refusals[user]; !asked || r.why != "" && now-r.judged >= refusedFor {
		n.take(now, t, n.Judge(user, t.Template))
	}
	n.templates.rest(t)
	return t
}

// take notes a verdict. Shells that must not wait for one have asked already: see Unjudged.
func (n *Node) take(now time.Duration, t *template, v Verdict) {
	t.refusals[n.word(v.user)] = refusal{v.refusal, now}
	t.program = v.program
	t.program.template = t
}

// Refuses says why this node would not run a template for a user; empty: it would.
func (n *Node) Refuses(user string, t *cluster.Template) string { return n.Judge(user, t).refusal }

// Judge finds out how this node runs a template, and whether it does for a user. It reads nothing that changes.
func (n *Node) Judge(user string, t *cluster.Template) Verdict {
	refusal, p := "", program{name: cluster.CommandType, executor: n.cfg.Executor, image: t.Image, anyMode: true}
	setting := "process.allow"
	if p.executor == "" {
		p.executor = processExecutor
		if t.Image != "" {
			p.executor, setting = dockerExecutor, "docker.images"
		}
	}
	p.emulated = n.cfg.emulates(p.executor)
	switch {
	case p.emulated:
	case !n.cfg.has(p.executor):
		refusal = fmt.Sprintf("%s is empty on worker %s, so it runs no commands", setting, n.cfg.Node.Name)
		if t.Image != "" {
			refusal += " in containers: add " + t.Image
		}
	case n.cfg.Judge == nil:
		refusal = fmt.Sprintf("worker %s runs no commands", n.cfg.Node.Name)
	default:
		if err := n.cfg.Judge(p.executor, user, t); err != nil {
			refusal = err.Error()
		}
	}
	return Verdict{user, t, t.Digest(), p, refusal}
}

// use keeps a template for one more task.
func (ts *templates) use(t *template) {
	t.uses++
	ts.unrest(t)
}

// release lets a template go for one task.
func (ts *templates) release(t *template) {
	t.uses--
	ts.rest(t)
}

// rest puts a template without uses first among the idle ones, and forgets the last of those that are too many.
func (ts *templates) rest(t *template) {
	if t.uses > 0 {
		return
	}
	ts.unrest(t)
	t.place = ts.idle.PushFront(t)
	for ts.bytes += t.cost(); ts.bytes > keepTemplates; {
		last := ts.idle.Back().Value.(*template)
		ts.unrest(last)
		delete(ts.known, last.digest)
	}
}

func (ts *templates) unrest(t *template) {
	if t.place != nil {
		ts.idle.Remove(t.place)
		t.place, ts.bytes = nil, ts.bytes-t.cost()
	}
}

func (t *template) cost() int { return t.Size() + templateCost }

// sameCommand reports whether two commands are the same program with the same entry of the same job.
func (t *task) sameCommand(c *cluster.Command) bool {
	if t.command == nil || c == nil {
		return t.command == nil && c == nil
	}
	return t.command.Digest == c.Name() && t.command.Job == c.Job && t.command.Index == c.Index && slices.Equal(t.command.Entries, c.Entries)
}
