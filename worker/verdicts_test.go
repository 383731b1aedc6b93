package worker

import (
	"errors"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// Who learns what is unjudged first has Enqueue judge nothing: neither what is new, nor what was refused a while ago.
func TestVerdictsThatAreLearnt(t *testing.T) {
	asked, missing := 0, errors.New("worker n1 has no program x")
	n := newNode(t, commands, func(c *Config) {
		c.Judge = func(string, string, *cluster.Template) error { asked++; return missing }
	})
	s := attach(t, n, "s", 1)
	of := &cluster.Template{Argv: []string{"x"}}
	place := func(now time.Duration, id string, brings bool) (refusals, judged int) {
		plain, a, b := s.place(id+"plain", shape(0, 1, 1)), s.place(id, shape(0, 1, 1)), s.place(id+"too", shape(0, 1, 1))
		for _, a := range []*cluster.Assignment{&a, &b} {
			a.Type, a.Command = cluster.CommandType, &cluster.Command{Digest: of.Digest(), Job: "j"}
			if brings {
				a.Command.Template = of
			}
		}
		m := s.message(n, plain, a, b)
		unjudged := n.Unjudged(now, m)
		for _, u := range unjudged {
			n.Learn(now, n.Judge(u.User, u.Of))
		}
		before := asked
		reply, _, err := n.Enqueue(now, m)
		if err != nil || asked != before {
			t.Errorf("%s: %v, asked in Enqueue: %d times", id, err, asked-before)
		}
		return len(reply.Refused), len(unjudged)
	}
	for _, c := range []struct {
		at                int
		id                string
		brings            bool
		missing           error
		refusals, unknown int
	}{
		{0, "unknown", false, missing, 2, 0},
		{0, "new", true, missing, 2, 1},
		{10, "refused before", false, nil, 2, 0},
		{59, "refused long ago", false, missing, 2, 1},
		{118, "installed meanwhile", false, nil, 0, 1},
		{1000, "known", true, missing, 0, 0},
	} {
		missing = c.missing
		if refusals, unknown := place(time.Duration(c.at)*time.Second, c.id, c.brings); refusals != c.refusals || unknown != c.unknown {
			t.Errorf("%s: %d refused, %d unjudged", c.id, refusals, unknown)
		}
	}
	n.Learn(time.Hour, n.Judge("", of))
	if _, refusal := s.command(t, n, time.Hour, "a late verdict", of, true); refusal != "" {
		t.Error(refusal)
	}
}
