package worker

import (
	"slices"
	"time"

	"dodoor/internal/cluster"
)

// Verdict is how a node runs a template for a user, or why it does not. To find it out may take long: files are looked at.
type Verdict struct {
	user    string
	of      *cluster.Template
	digest  string
	program program
	refusal string
}

// Unjudged is a template about which a node has to find out whether it runs it for a user.
type Unjudged struct {
	User string
	Of   *cluster.Template
}

// Unjudged returns the templates of a message of which the node does not know whether they may run for the users who submitted them,
// or refused that a while ago. Whoever learns the verdicts first need not wait for them in Enqueue.
func (n *Node) Unjudged(now time.Duration, e *cluster.Enqueue) (unjudged []Unjudged) {
	for i := range e.Assignments {
		c, user := e.Assignments[i].Command, e.Assignments[i].User
		if c == nil {
			continue
		}
		of := c.Template
		if t := n.templates.known[c.Name()]; t != nil {
			if r, asked := t.refusals[user]; asked && (r.why == "" || now-r.judged < refusedFor/2) { // so that it lasts up to Enqueue
				continue
			}
			of = t.Template
		}
		if u := (Unjudged{user, of}); of != nil && !slices.Contains(unjudged, u) {
			unjudged = append(unjudged, u)
		}
	}
	return unjudged
}

// Learn takes a verdict that was found out meanwhile.
func (n *Node) Learn(now time.Duration, v Verdict) {
	t := n.templates.known[v.digest]
	if t == nil {
		t = &template{Template: v.of, digest: v.digest, refusals: map[string]refusal{}}
		n.templates.known[v.digest] = t
	} else if r, asked := t.refusals[v.user]; asked && r.why == "" {
		return // it may run, and what uses it goes on
	}
	n.take(now, t, v)
	n.templates.rest(t)
}
