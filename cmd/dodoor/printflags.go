package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"dodoor/client"
	"dodoor/job"
)

// printFlags say what becomes of what tasks print.
type printFlags struct {
	out                          string
	keep, tag, json, quiet, code bool
}

// attendFlags declares them for commands that wait for ends.
func (o *options) attendFlags(f *printFlags) {
	o.outFlags(f)
	o.BoolVar(&f.keep, "k", false, "print in the order of the list, not as tasks end")
	o.BoolVar(&f.json, "json", false, "print a JSON object per task and one in the end, instead of what tasks print")
	o.BoolVar(&f.quiet, "quiet", false, "no progress, and no word about failed tasks")
	o.BoolVar(&f.code, "exit-code", false, "exit with the code of the task, where there is one alone")
}

// outFlags declares those of every command that prints outputs.
func (o *options) outFlags(f *printFlags) {
	o.StringVar(&f.out, "out", "", "`folder` for what tasks print, INDEX.out and INDEX.err, instead of printing it")
	o.BoolVar(&f.tag, "tag", false, "print a task's entry and a tab before each of its lines")
}

func (f *printFlags) check() error {
	if f.tag && (f.json || f.out != "") {
		return errors.New("-tag is for what is printed: leave out -json and -out")
	}
	return nil
}

// given tells whether a flag is set that nothing but waiting for ends makes sense of; its name, or "".
func (f *printFlags) given() string {
	switch {
	case f.out != "":
		return "-out"
	case f.keep:
		return "-k"
	case f.tag:
		return "-tag"
	case f.json:
		return "-json"
	case f.code:
		return "-exit-code"
	}
	return ""
}

// sink is where outputs go. Entry and index tell of the task at a position.
func (f *printFlags) sink(stdout, stderr io.Writer, entry func(int64) string, index func(int64) int64) (client.Sink, error) {
	switch {
	case f.out != "":
		return client.NewFolder(f.out, index)
	case f.json:
		return client.Discard{}, nil
	}
	t := &client.Terminal{Out: stdout, Err: stderr}
	if f.tag {
		t.Tag = entry
	}
	return t, nil
}

// entryOf is what tags the lines of a task.
func entryOf(entries []string, index int64) string {
	if len(entries) == 0 {
		return fmt.Sprint(index)
	}
	return strings.Join(entries, " ")
}

// of is the entry and the index of the tasks of a plan.
func of(p job.Plan) (entry func(int64) string, index func(int64) int64) {
	entry = func(i int64) string { t := p.At(i); return entryOf(t.Entries, t.Index) }
	return entry, func(i int64) int64 { return p.At(i).Index }
}
