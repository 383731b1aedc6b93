package worker

import (
	"errors"
	"testing"

	"dodoor/internal/cluster"
)

// What a worker holds of one user another neither sees nor ends, nor has answered as its own task; a scheduler ends what it placed.
func TestUsersDoNotMeetAtAWorker(t *testing.T) {
	n := newNode(t)
	s, other := attach(t, n, "s", 1), attach(t, n, "other", 1)
	a := s.place("t", shape(1, 1, 1000))
	a.User = "alice"
	if reply, _, err := n.Enqueue(0, s.message(n, a)); err != nil || len(reply.Refused) > 0 {
		t.Fatal(reply.Refused, err)
	}
	b := other.place("t", shape(1, 1, 1000))
	b.User = "bob"
	reply, _, err := n.Enqueue(0, other.message(n, b))
	if err != nil || len(reply.Refused) != 1 || reply.Refused[0].Code != cluster.DuplicateTask {
		t.Errorf("bob's task of the same name: %+v, %v", reply.Refused, err)
	}
	alice, bob := cluster.Asker{User: "alice"}, cluster.Asker{User: "bob"}
	for _, q := range []cluster.TaskQuery{{ID: "t"}, {IDs: []string{"t"}}, {Max: 9}} {
		q.For = bob
		if list := n.Tasks(q); len(list) > 0 {
			t.Errorf("bob sees %+v", list)
		}
		q.For = alice
		if list := n.Tasks(q); len(list) != 1 || list[0].User != "alice" {
			t.Errorf("alice sees %+v", list)
		}
	}
	if n.Attempt(bob, "t") != 0 || n.Attempt(alice, "t") != 1 {
		t.Error("bob sees an attempt, or alice none")
	}
	if _, found := n.Cancel(0, bob, "t", ""); found {
		t.Error("bob cancels it")
	}
	if actions, found := n.Cancel(0, cluster.Everybody, "t", "s"); !found || len(actions.Kill) != 1 {
		t.Errorf("its scheduler: %+v, %t", actions, found)
	}
}

// A task that was lost is its user's: another user's of the same id is another task, not this one once more.
func TestNobodyRunsAnothersTaskAnew(t *testing.T) {
	for user, refused := range map[string]int{"alice": 0, "bob": 1} {
		n := newNode(t)
		s := attach(t, n, "s", 1)
		place := func(user string) []cluster.Refusal {
			a := s.place("t", shape(1, 1, 1000))
			a.User = user
			reply, _, err := n.Enqueue(0, s.message(n, a))
			if err != nil {
				t.Fatal(err)
			}
			return reply.Refused
		}
		place("alice")
		n.Finished(0, "t", Result{Outcome: cluster.Lost})
		if r := place(user); len(r) != refused || refused > 0 && r[0].Code != cluster.DuplicateTask {
			t.Errorf("%s: %+v", user, r)
		}
	}
}

// What one user may not run here another may, of the very same template.
func TestTemplatesAreRefusedUserByUser(t *testing.T) {
	asked := map[string]int{}
	n := newNode(t, commands, func(c *Config) {
		c.Judge = func(_, user string, _ *cluster.Template) error {
			if asked[user]++; user == "bob" {
				return nil
			}
			return errors.New("not for " + user)
		}
	})
	s := attach(t, n, "s", 1)
	of := &cluster.Template{Argv: []string{"x"}}
	for i, c := range []struct{ user, want string }{{"alice", "not for alice"}, {"bob", ""}, {"alice", "not for alice"}, {"", "not for "}} {
		a := s.place(string(rune('a'+i)), shape(0, 1, 1))
		a.Type, a.User, a.Command = cluster.CommandType, c.user, &cluster.Command{Digest: of.Digest()}
		if i == 0 {
			a.Command.Template = of
		}
		m := s.message(n, a)
		for _, u := range n.Unjudged(0, m) {
			n.Learn(0, n.Judge(u.User, u.Of))
		}
		reply, actions, err := n.Enqueue(0, m)
		switch {
		case err != nil || len(reply.Refused) != min(len(c.want), 1):
			t.Errorf("%q: %+v, %v", c.user, reply.Refused, err)
		case c.want != "" && (reply.Refused[0].Message != c.want || reply.Refused[0].Code != cluster.NotAllowed):
			t.Errorf("%q: %+v", c.user, reply.Refused[0])
		case c.want == "" && (len(actions.Start) != 1 || actions.Start[0].User != c.user):
			t.Errorf("%q: %+v", c.user, actions)
		}
	}
	if asked["alice"] != 1 || asked["bob"] != 1 || n.Refuses("bob", of) != "" || n.Refuses("eve", of) != "not for eve" {
		t.Errorf("%v", asked)
	}
}
