package rpc

import (
	"strings"
	"testing"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// A command arrives with the digest of its template, or is wrong; what is out of bounds is named.
func TestCommandsOnArrival(t *testing.T) {
	echo := func() *dodoor.Command {
		return &dodoor.Command{Template: &dodoor.Template{Argv: []string{"echo", "{}"}}, Entries: []string{"a"}}
	}
	for want, spoil := range map[string]func(w *dodoor.Command){
		"":                                func(w *dodoor.Command) {},
		`command.digest is "1234"`:        func(w *dodoor.Command) { w.Digest = ptr("1234") },
		"command.digest is missing":       func(w *dodoor.Command) { w.Template = nil },
		"command.index is -1":             func(w *dodoor.Command) { w.Index = ptr(int64(-1)) },
		"command.entries[0] has 65537":    func(w *dodoor.Command) { w.Entries[0] = strings.Repeat("x", cluster.MaxEntry+1) },
		"command.entries has":             func(w *dodoor.Command) { w.Entries = make([]string, maxItems+1) },
		"there is no command":             func(w *dodoor.Command) { w.Template.Argv = nil },
		"the name of the program":         func(w *dodoor.Command) { w.Template.Argv[0] = "" },
		"standard input has 1048577":      func(w *dodoor.Command) { w.Template.Stdin = make([]byte, cluster.MaxStdin+1) },
		"arguments, environment and":      func(w *dodoor.Command) { w.Template.Script = make([]byte, cluster.MaxProgram+1) },
		"command.time_limit_ms is -1":     func(w *dodoor.Command) { w.Template.TimeLimitMs = ptr(int64(-1)) },
		"command.job has":                 func(w *dodoor.Command) { w.Job = ptr("a\x00b") },
		"command.template cannot run: th": func(w *dodoor.Command) { w.Template = &dodoor.Template{} },
	} {
		w := echo()
		spoil(w)
		d := decoder{dims: dims}
		c := d.command(w)
		switch {
		case want == "" && (d.err != nil || c.Digest != c.Template.Digest()):
			t.Errorf("%+v, %v: want it with its digest", c, d.err)
		case want != "" && (d.err == nil || !strings.Contains(d.err.Error(), want)):
			t.Errorf("got %v, want %q", d.err, want)
		}
	}
}

// The results of a task are somebody's, unless it belongs to a job.
func TestWhoCollects(t *testing.T) {
	task := []*dodoor.TaskSpec{validTask()}
	for _, c := range []struct {
		w  *dodoor.SubmitRequest
		ok bool
	}{
		{&dodoor.SubmitRequest{Client: ptr("c"), Tasks: task}, true},
		{&dodoor.SubmitRequest{Tasks: task}, false},
		{&dodoor.SubmitRequest{Tasks: task, Job: &dodoor.Job{ID: ptr("j")}}, true},
		{&dodoor.SubmitRequest{Tasks: task, Job: &dodoor.Job{}}, false},
	} {
		d := decoder{dims: dims}
		if d.submit(c.w); (d.err == nil) != c.ok {
			t.Errorf("%+v: %v", c.w, d.err)
		}
	}
}
