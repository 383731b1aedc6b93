package scheduler

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// Entries come out as they went in, any bytes and any number of them.
func TestEntriesArePackedAndListed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.Just(strings.Repeat("x", 300))), 0, 5).Draw(t, "entries")
		if got := packEntries(list).list(len(list)); !slices.Equal(got, list) {
			t.Fatalf("%q becomes %q", list, got)
		}
	})
}

// A worker and whoever asks get a task's entries; tasks of one program with other numbers of them are not alike.
func TestEntriesReachTheWorker(t *testing.T) {
	r := jobReplica(t)
	for i, list := range [][]string{{"a b"}, nil, {"", "x", "\x00"}, {""}} {
		d := runOf(t, r, 0, &cluster.Job{ID: "j"}, int64(i), func(s *cluster.TaskSpec) { s.Command.Entries = list })
		open := r.JobTasks(&cluster.JobTaskQuery{Job: "j", From: int64(i), Max: 1})
		if !slices.Equal(d.Assignment.Command.Entries, list) || !slices.Equal(open[0].Entries, list) {
			t.Errorf("%q: the worker gets %q, who asks %q", list, d.Assignment.Command.Entries, open[0].Entries)
		}
		finish(t, r, 0, d, cluster.Failed)
		if ended := r.JobTasks(&cluster.JobTaskQuery{Job: "j", From: int64(i), Max: 1}); !slices.Equal(ended[0].Entries, list) {
			t.Errorf("%q: %q once it has failed", list, ended[0].Entries)
		}
	}
	actions, _, _ := r.RetryJob(0, cluster.Everybody, "j")
	if got := actions.Send[2].Assignment.Command.Entries; !slices.Equal(got, []string{"", "x", "\x00"}) {
		t.Errorf("it runs again with %q", got)
	}
	if r.bytes != 3+5 {
		t.Errorf("%d bytes of entries are counted", r.bytes)
	}
}

// Large entries and templates of open tasks are bounded together; as tasks end, others are taken.
func TestHeldCommandsAreBounded(t *testing.T) {
	r := jobReplica(t)
	large := strings.Repeat("x", cluster.MaxEntry)
	var sent []Dispatch
	for r.Admit("", "client", 1) == nil {
		sent = append(sent, runOf(t, r, 0, &cluster.Job{ID: "j"}, int64(len(sent)), func(s *cluster.TaskSpec) {
			s.Command.Entries = []string{large}
			if s.Command.Index%8 == 0 {
				s.Command.Template = &cluster.Template{Argv: []string{"x", s.ID}, Stdin: make([]byte, 8*cluster.MaxEntry)}
				s.Command.Digest = s.Command.Template.Digest()
			}
		}))
	}
	if err := r.Admit("", "client", 1); !errors.Is(err, cluster.Overloaded) || len(sent) < 3500 || len(sent) > mostHeld/cluster.MaxEntry*2/3 {
		t.Fatalf("%d tasks of 128 KiB are taken, then %v", len(sent), err)
	}
	for _, d := range sent {
		finish(t, r, 0, d, cluster.Finished)
	}
	if r.Tick(1); r.Admit("", "client", 1) != nil || r.bytes != 0 || r.templates.bytes != 0 {
		t.Errorf("all have ended: %v; %d and %d bytes", r.Admit("", "client", 1), r.bytes, r.templates.bytes)
	}
}
