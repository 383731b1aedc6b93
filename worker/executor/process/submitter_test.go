package process

import (
	"fmt"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/internal/procgroup"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

// An entry of one user is no other's, in the look before and when it runs.
func TestProgramsOfOneUser(t *testing.T) {
	p := newAllowing(t, []string{"/bin/true", "alice=/bin/sh"}, nil)
	const only = "process.allow has only /bin/true;"
	for user, want := range map[string]string{"alice": "", "bob": only, "": only} {
		of := cluster.Template{Argv: []string{"/bin/sh", "-c", "exit 0"}}
		if err := p.Allows(user, &of); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", user, err, want)
		}
		s := command(of, 1)
		s.User = user
		if r := p.Run(t.Context(), s); (r.Outcome == cluster.Finished) != (want == "") || !strings.Contains(r.Reason, want) {
			t.Errorf("%q: %+v", user, r)
		}
	}
	p = newAllowing(t, []string{"alice=/bin/true"}, nil)
	if err := p.Allows("bob", &cluster.Template{Argv: []string{"/bin/true"}}); err == nil ||
		err.Error() != "process.allow has nothing for user bob on worker w1" {
		t.Errorf("%v", err)
	}
}

// Tasks run as the account of whoever submitted them. One without an account is refused, honestly.
func TestTasksRunAsTheirSubmitters(t *testing.T) {
	p, _ := newCommands(t, off)
	asNobody(t, p)
	p.cfg.Accounts = procgroup.NewAccounts(procgroup.ByName)
	of := cluster.Template{Script: []byte("#!/bin/sh\nid -un; stat -c %U .\n")}
	for user, want := range map[string]string{"daemon": "daemon\ndaemon", "bin": "bin\nbin", "": "nobody\nnobody"} {
		for range 2 { // in a folder that serves again
			s := command(of, 1)
			s.User = user
			r := p.Run(t.Context(), s)
			executortest.Finished(t, r)
			if r.Output != want {
				t.Errorf("%q: %q, want %q", user, r.Output, want)
			}
		}
	}
	for user, want := range map[string]string{"root": "is root on this machine",
		"no-such-user": "user no-such-user has no account on this machine"} {
		s := command(of, 1)
		s.User = user
		r, err := p.Run(t.Context(), s), p.Allows(user, &of)
		if r.Outcome != cluster.Failed || !strings.Contains(r.Reason, want) || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %+v, %v", user, r, err)
		}
	}
}

// A machine that does not say who has an account has not said that somebody has none: the task runs elsewhere, or later here.
func TestUnansweredAccountsAreNoRefusal(t *testing.T) {
	p := newAllowing(t, []string{"/bin/true", "alice=/bin/sh"}, nil)
	p.cfg.Accounts = procgroup.NewAccounts(func(name string) (*procgroup.User, error) {
		return nil, fmt.Errorf("%w: %s", procgroup.ErrUnanswered, name)
	})
	of := cluster.Template{Argv: []string{"/bin/true"}}
	s := command(of, 1)
	s.User = "alice"
	const want = "worker w1 cannot prepare the task: the machine does not say now who has an account: alice"
	if r, err := p.Run(t.Context(), s), p.Allows("alice", &of); r.Outcome != cluster.Lost || r.Reason != want || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	of.Image = "lab/tool:3"
	if err := p.Allows("alice", &of); err == nil || !strings.Contains(err.Error(), "runs no containers") {
		t.Errorf("what its account does not matter to: %v", err)
	}
}

// What a configured type may not run is refused without the entries of others.
func TestRefusedTypesNameNoUsers(t *testing.T) {
	p := newAllowing(t, []string{"/bin/true", "alice=/opt/secret/"}, nil)
	const want = `worker w1 may not run "/bin/sh": process.allow has only /bin/true`
	if r := p.Run(t.Context(), worker.Start{Type: "x", Argv: []string{"/bin/sh"}}); r.Outcome != cluster.Failed || r.Reason != want {
		t.Errorf("%+v", r)
	}
}
