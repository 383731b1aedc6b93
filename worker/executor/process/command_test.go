package process

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
	"dodoor/worker/spool"
)

// command is a task that runs a command, with an index and entries.
func command(t cluster.Template, index int64, entries ...string) worker.Start {
	s := executortest.Start(1.5, 64, 1000)
	s.TaskID, s.Type, s.Executor = "job."+fmt.Sprint(index), cluster.CommandType, "process"
	s.Attempt, s.Command = 1, &cluster.Command{Template: &t, Job: "job", Index: index, Entries: entries}
	return s
}

// newCommands returns an executor that runs any command, and its spool.
func newCommands(t *testing.T, limits string) (*Executor, *spool.Spool) {
	t.Helper()
	output, err := spool.New(spool.Config{Worker: "w", Folder: t.TempDir(), TaskBytes: 10 << 20, Bytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { output.Close() })
	p := newProcess(t, limits, anything)
	p.cfg.Spool, p.cfg.Workdirs = output, []string{anything}
	return p, output
}

// spooled returns what is kept of a task.
func spooled(t *testing.T, output *spool.Spool, task string, errs bool) string {
	t.Helper()
	c, err := output.Read(t.Context(), cluster.OutputRequest{TaskID: task, Errors: errs, Max: 1 << 20}, false)
	if err != nil || !c.Ended {
		t.Errorf("%s: %+v, %v", task, c, err)
	}
	return string(c.Data)
}

func TestCommands(t *testing.T) {
	p, output := newCommands(t, off)
	cwd := t.TempDir()
	if err := os.WriteFile(filepath.Join(cwd, "tool"), []byte("#!/bin/sh\npwd; echo \"$0\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	print := []string{"/usr/bin/printf", "<%s>"}
	odd := "two  words\nand a line\t$HOME '\"*\\"
	for i, c := range []struct {
		what     string
		t        cluster.Template
		entries  []string
		out, err string
		code     int
	}{
		{"arguments as they are", cluster.Template{Argv: append(print, "{}", "a{}b", "{#}", "")}, []string{odd},
			"<" + odd + "><a" + odd + "b><1><>", "", 0},
		{"an argument per list", cluster.Template{Argv: append(print, "{}", "{2}")}, []string{"x", "y"}, "<x><y><y>", "", 0},
		{"looked up in the PATH", cluster.Template{Argv: []string{"printf", "%s", "x"}}, nil, "x", "", 0},
		{"below the working folder", cluster.Template{Argv: []string{"./tool"}, Workdir: cwd}, nil, cwd + "\n" + cwd + "/./tool\n", "", 0},
		{"a PATH of its own", cluster.Template{Argv: []string{"tool"}, Env: []string{"PATH=relative::" + cwd + ":/bin"}, Workdir: "/"}, nil,
			"/\n" + cwd + "/tool\n", "", 0},
		{"the program is the entry", cluster.Template{Argv: []string{"{}", "x"}}, []string{"echo"}, "x\n", "", 0},
		{"standard input", cluster.Template{Argv: []string{"cat"}, Stdin: []byte("a\x00b\n")}, nil, "a\x00b\n", "", 0},
		{"no standard input", cluster.Template{Argv: []string{"cat"}}, nil, "", "", 0},
		{"input that nobody reads", cluster.Template{Argv: []string{"true"}, Stdin: make([]byte, cluster.MaxStdin)}, nil, "", "", 0},
		{"both streams", cluster.Template{Argv: []string{"sh", "-c", "echo out; echo err >&2; exit 3"}}, nil, "out\n", "err\n", 3},
		{"a script", cluster.Template{Script: []byte("echo \"$@\" $#; echo $0 >&2; cat"), Argv: []string{"{}", "b"}, Stdin: []byte("in")},
			[]string{"a  a"}, "a  a b 2\nin", "SCRIPT\n", 0},
		{"a script with an interpreter", cluster.Template{Script: []byte("#!/bin/sed -f\ns/a/b/"), Stdin: []byte("aa\n")}, nil, "ba\n", "", 0},
		{"a script of env", cluster.Template{Script: []byte("#!/usr/bin/env bash\necho ${BASH_VERSION:+bash}")}, nil, "bash\n", "", 0},
		{"a locale", cluster.Template{Argv: []string{"sh", "-c", "echo $LANG,$LC_ALL"}, Env: []string{"LANG=C.UTF-8"}}, nil, "C.UTF-8,\n", "", 0},
		{"another locale", cluster.Template{Argv: []string{"printenv", "LC_ALL"}, Env: []string{"LC_ALL=C.UTF-8"}}, nil, "C.UTF-8\n", "", 0},
		{"no locale", cluster.Template{Argv: []string{"printenv", "LC_ALL"}}, nil, "C\n", "", 0},
		{"a home", cluster.Template{Argv: []string{"printenv", "HOME"}, Env: []string{"HOME=/x"}}, nil, "/x\n", "", 0},
		{"nothing of the worker's", cluster.Template{Argv: []string{"sh", "-c", "echo \"$DODOOR_SECRET\""}}, nil, "\n", "", 0},
	} {
		s := command(c.t, 1, c.entries...)
		s.TaskID = fmt.Sprint("task/", i)
		t.Setenv("DODOOR_SECRET", "x")
		r := p.Run(t.Context(), s)
		out, errs := spooled(t, output, s.TaskID, false), spooled(t, output, s.TaskID, true)
		if strings.HasSuffix(errs, "/script\n") {
			errs = "SCRIPT\n"
		}
		if out != c.out || errs != c.err || r.ExitCode != c.code || (r.Outcome == cluster.Finished) != (c.code == 0) {
			t.Errorf("%s: %q and %q, want %q and %q: %+v", c.what, out, errs, c.out, c.err, r)
		}
		if errs != "SCRIPT\n" && r.Printed != int64(len(c.out)+len(c.err)) {
			t.Errorf("%s: %d bytes printed", c.what, r.Printed)
		}
	}
}

// A task sees who and where it is, and what it may take. Its own words come last only where they may.
func TestCommandEnvironment(t *testing.T) {
	p, output := newCommands(t, off)
	s := command(cluster.Template{Argv: []string{"sh", "-c", `env; test "$PWD" = "$TMPDIR" && test "$HOME" = "$TMPDIR" && ls -A`},
		Env: []string{"A=1", "A=2", "DODOOR_JOB=forged", "TMPDIR=/forged"}}, 7, "x", "y z")
	executortest.Finished(t, p.Run(t.Context(), s))
	lines := strings.Split(spooled(t, output, s.TaskID, false), "\n")
	for _, want := range []string{"A=2", "DODOOR_JOB=job", "DODOOR_TASK_ID=job.7", "DODOOR_INDEX=7", "DODOOR_ENTRY=x y z",
		"DODOOR_NODE=" + p.cfg.Worker, "DODOOR_CORES=1.5", "DODOOR_MEMORY_MB=64", "PATH=" + taskPath} {
		found := 0
		for _, line := range lines {
			if line == want {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s is there %d times: %q", want, found, lines)
		}
	}
}

// Commands that cannot run fail, and say why.
func TestCommandsThatCannotRun(t *testing.T) {
	p, _ := newCommands(t, off)
	long, many := "{}{}{}", []string{"true"}
	for range 60 {
		many = append(many, "{}")
	}
	for want, s := range map[string]worker.Start{
		"has no program \"no-such-program\" in the PATH": command(cluster.Template{Argv: []string{"{}"}}, 1, "no-such-program"),
		"no program is left":                             command(cluster.Template{Argv: []string{"{}"}}, 1),
		"no program can be given more than":              command(cluster.Template{Argv: []string{"true", long}}, 1, strings.Repeat("x", 60<<10)),
		"more than the kernel takes: use standard input": command(cluster.Template{Argv: many}, 1, strings.Repeat("x", 60<<10)),
		`entry "\x00" has a zero byte`:                   command(cluster.Template{Argv: []string{"true", "{}"}}, 1, "\x00"),
		"has no working folder":                          command(cluster.Template{Argv: []string{"true"}, Workdir: "/no/such"}, 1),
	} {
		if r := p.Run(t.Context(), s); r.Outcome != cluster.Failed || r.ExitCode != -1 || !strings.Contains(r.Reason, want) {
			t.Errorf("want %q: %+v", want, r)
		}
	}
}

// What a task leaves behind dies with it, whatever it still wants to print.
func TestWritesAfterTheEnd(t *testing.T) {
	p, output := newCommands(t, off)
	s := command(cluster.Template{Argv: []string{"sh", "-c", "(while :; do echo late; sleep 0.01; done) & echo early"}}, 1)
	executortest.Finished(t, p.Run(t.Context(), s))
	if text := spooled(t, output, s.TaskID, false); !strings.Contains(text, "early\n") {
		t.Errorf("%q", text)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := runs(t, func() worker.Result {
		return p.Run(ctx, command(cluster.Template{Argv: []string{"sh", "-c", "echo begun; sleep 1000"}}, 2))
	})
	c, err := output.Read(t.Context(), cluster.OutputRequest{TaskID: "job.2", Max: 9, Wait: 60e9}, true)
	cancel()
	if r := ended(); err != nil || string(c.Data) != "begun\n" || c.Ended || r.Outcome != cluster.Cancelled || r.Printed != 6 {
		t.Errorf("%+v, %v, %+v", c, err, r)
	}
}

// More than the spool keeps is counted, and the last of it stays in the record.
func TestMuchOutput(t *testing.T) {
	p, output := newCommands(t, off)
	s := command(cluster.Template{Argv: []string{"sh", "-c", "head -c 50000000 /dev/zero; echo the end"}}, 1)
	r := p.Run(t.Context(), s)
	c, err := output.Read(t.Context(), cluster.OutputRequest{TaskID: s.TaskID, Max: 1}, false)
	if err != nil || r.Printed != 50_000_008 || !strings.HasSuffix(r.Output, "the end") || c.Kept != 10<<20 ||
		c.Printed != r.Printed || c.Loss == "" {
		t.Errorf("%d bytes, %+v, %v", r.Printed, c, err)
	}
}

// A command that demands no memory has no limit of it.
func TestNoMemoryDemandIsNoLimit(t *testing.T) {
	p, output := newCommands(t, required)
	s := command(cluster.Template{Argv: []string{p.cfg.Allow[0], "grow=100", "print=grown"}}, 1)
	s.Shape.Demand[cluster.Memory] = 0
	executortest.Finished(t, p.Run(t.Context(), s))
	if text := spooled(t, output, s.TaskID, false); text != "grown\n" {
		t.Errorf("%q", text)
	}
	s.TaskID, s.Shape.Demand[cluster.Memory] = "small", 20
	if r := p.Run(t.Context(), s); !r.OutOfMemory || !strings.HasSuffix(r.Reason, "20 MiB; submit it with more memory") {
		t.Errorf("%+v", r)
	}
}
