package worker

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Verdict is how a node runs a template, or why it does not. To find it out may take long: files are looked at.
type Verdict struct {
	of      *cluster.Template
	digest  string
	program program
	refusal string
}

// Unjudged returns the templates of a message that the node does not know yet, or refused a while ago. Whoever learns the
// verdicts first need not wait for them in Enqueue.
func (n *Node) Unjudged(now time.Duration, e *cluster.Enqueue) (unjudged []*cluster.Template) {
	for i := range e.Assignments {
		c := e.Assignments[i].Command
		if c == nil {
			continue
		}
		t, of := n.templates.known[c.Name()], c.Template
		switch {
		case t != nil && (t.refusal == "" || now-t.judged < refusedFor/2): // so that it lasts up to Enqueue
			continue
		case t != nil:
			of = t.Template
		}
		if of != nil && !slices.Contains(unjudged, of) {
			unjudged = append(unjudged, of)
		}
	}
	return unjudged
}

// Learn takes a verdict that was found out meanwhile.
func (n *Node) Learn(now time.Duration, v Verdict) {
	t := n.templates.known[v.digest]
	if t == nil {
		t = &template{Template: v.of, digest: v.digest}
		n.templates.known[v.digest] = t
	} else if t.refusal == "" {
		return // it may run, and what uses it goes on
	}
	n.take(now, t, v)
	n.templates.rest(t)
}
