package rpc

import (
	"strconv"
	"time"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func (e encoder) command(c *cluster.Command) *dodoor.Command {
	if c == nil {
		return nil
	}
	w := &dodoor.Command{Digest: optional(&c.Digest), Job: optional(&c.Job), Index: &c.Index, Entries: c.Entries}
	if c.Template != nil {
		w.Template = e.template(c.Template)
	}
	return w
}

func (e encoder) template(t *cluster.Template) *dodoor.Template {
	w := &dodoor.Template{Argv: t.Argv, Env: t.Env, Script: t.Script, Image: optional(&t.Image), Workdir: optional(&t.Workdir), Stdin: t.Stdin}
	if t.TimeLimit > 0 {
		w.TimeLimitMs = millis(t.TimeLimit)
	}
	return w
}

// command returns a command whose digest is right: that of its template, if it came along.
func (d *decoder) command(w *dodoor.Command) *cluster.Command {
	d.enter("command", -1)
	defer d.leave()
	c := &cluster.Command{Job: d.optionalName("job", w.Job), Entries: d.entries(w.Entries)}
	if w.Index != nil {
		c.Index = d.count("index", w.Index)
	}
	if w.Template == nil {
		c.Digest = d.name("digest", w.Digest)
		return c
	}
	t := d.template(w.Template)
	if c.Template, c.Digest = &t, t.Digest(); w.Digest != nil && *w.Digest != c.Digest {
		d.fail("digest", "is %.80q: that of the template is %s", *w.Digest, c.Digest)
	}
	return c
}

func (d *decoder) template(w *dodoor.Template) (t cluster.Template) {
	if w == nil {
		d.missing("template")
		return t
	}
	d.length("argv", len(w.Argv), maxItems)
	d.length("env", len(w.Env), maxItems)
	t = cluster.Template{Argv: w.Argv, Env: w.Env, Script: w.Script, Image: d.optionalName("image", w.Image), Stdin: w.Stdin}
	if w.Workdir != nil {
		t.Workdir = *w.Workdir
	}
	if w.TimeLimitMs != nil {
		t.TimeLimit = time.Duration(d.between("time_limit_ms", w.TimeLimitMs, 0, cluster.MaxDuration)) * time.Millisecond
	}
	if err := t.Check(); err != nil {
		d.fail("template", "cannot run: %v", err)
	}
	return t
}

// entries returns what {} stands for: any bytes.
func (d *decoder) entries(w []string) []string {
	if d.length("entries", len(w), maxItems) == 0 {
		return nil
	}
	for i, entry := range w {
		if len(entry) > cluster.MaxEntry {
			d.fail("entries["+strconv.Itoa(i)+"]", "has %d bytes: at most %d are allowed", len(entry), cluster.MaxEntry)
		}
	}
	return w
}

func (e encoder) output(r *cluster.OutputRequest) *dodoor.OutputRequest {
	return &dodoor.OutputRequest{TaskID: &r.TaskID, Attempt: narrow(int64(r.Attempt)), Errors: &r.Errors, Offset: &r.Offset,
		Max: narrow(int64(r.Max)), WaitMs: narrow(r.Wait.Milliseconds())}
}

func (d *decoder) output(w *dodoor.OutputRequest) (r cluster.OutputRequest) {
	if w == nil {
		d.missing("request")
		return r
	}
	r = cluster.OutputRequest{TaskID: d.name("task_id", w.TaskID), Errors: flag(w.Errors), Max: d.int32("max", w.Max, 1, maxChunk)}
	if w.Attempt != nil {
		r.Attempt = d.int32("attempt", w.Attempt, 0, maxItems)
	}
	if w.Offset != nil {
		r.Offset = d.count("offset", w.Offset)
	}
	if w.WaitMs != nil {
		r.Wait = time.Duration(d.int32("wait_ms", w.WaitMs, 0, maxPollMs)) * time.Millisecond
	}
	return r
}

func (e encoder) outputChunk(c cluster.OutputChunk) *dodoor.OutputChunk {
	return &dodoor.OutputChunk{Data: c.Data, Printed: &c.Printed, Kept: &c.Kept, Ended: &c.Ended, Attempt: narrow(int64(c.Attempt)),
		Loss: optionalText(c.Loss)}
}

func (d *decoder) outputChunk(w *dodoor.OutputChunk) cluster.OutputChunk {
	return cluster.OutputChunk{Data: w.Data, Printed: d.count("printed", w.Printed), Kept: d.count("kept", w.Kept), Ended: flag(w.Ended),
		Attempt: d.int32("attempt", w.Attempt, 0, maxItems), Loss: d.text("loss", w.Loss)}
}
