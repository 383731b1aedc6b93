package executor

import (
	"slices"
	"strings"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/worker"
	"dodoor/worker/executor/executortest"
)

func TestInterpreter(t *testing.T) {
	for script, want := range map[string]string{
		"":                                      "/bin/sh",
		"echo #!/bin/bash":                      "/bin/sh",
		"\n#!/bin/bash":                         "/bin/sh",
		"#!":                                    "/bin/sh",
		"#!/bin/bash":                           "/bin/bash",
		"#!/bin/bash\r\necho":                   "/bin/bash",
		"#! /bin/sed  -n -f \ns/a/b/":           "/bin/sed|-n -f",
		"#!/usr/bin/env python3\nprint()":       "python3",
		"#!/usr/bin/env  python3 \nprint()":     "python3",
		"#!/usr/bin/env -S python3 -u\nprint()": "/usr/bin/env|-S python3 -u",
		"#!/usr/bin/env A=1\n":                  "/usr/bin/env|A=1",
		"#!/usr/bin/env":                        "/usr/bin/env",
		"#!/bin/sh\t-e\n":                       "/bin/sh|-e",
		"#!/usr/bin/env\tpython3\n":             "python3",
	} {
		if got := strings.Join(Interpreter([]byte(script)), "|"); got != want {
			t.Errorf("%q: %s, want %s", script, got, want)
		}
	}
}

// Whatever a script begins with, there is a program and at most one argument, without blanks around them.
func FuzzInterpreter(f *testing.F) {
	f.Add([]byte("#!/bin/sh -e\n"))
	f.Add([]byte("#! \t /usr/bin/env \t x"))
	f.Fuzz(func(t *testing.T, script []byte) {
		args := Interpreter(script)
		if len(args) < 1 || len(args) > 2 {
			t.Fatalf("%q", args)
		}
		for _, a := range args {
			if a == "" || strings.Trim(a, " \t\n") != a {
				t.Errorf("%q", args)
			}
		}
		if strings.HasSuffix(args[len(args)-1], "\r") { // of a line's end; elsewhere the kernel takes it for a letter
			t.Errorf("%q", args)
		}
	})
}

func TestCommandEnv(t *testing.T) {
	about := []string{"DODOOR_ENTRY=a b c", "DODOOR_JOB=j", "DODOOR_TASK_ID=t", "DODOOR_INDEX=3", "DODOOR_NODE=w", "DODOOR_CORES=0.25",
		"DODOOR_MEMORY_MB=100"}
	for _, c := range []struct{ env, want []string }{
		{nil, nil},
		{[]string{"A=1"}, []string{"A=1"}},
		{[]string{"LANG=de"}, []string{"LC_ALL=", "LANG=de"}},
		{[]string{"LC_TIME=de"}, []string{"LC_ALL=", "LC_TIME=de"}},
		{[]string{"LANG=de", "LC_ALL=fr"}, []string{"LANG=de", "LC_ALL=fr"}},
	} {
		s := executortest.Start(0.25, 100, 1)
		s.Command = &cluster.Command{Template: &cluster.Template{Env: c.env}, Job: "j", Index: 3, Entries: []string{"a b", "c"}}
		if got, want := CommandEnv(&s, "w"), slices.Concat(c.want, about); !slices.Equal(got, want) {
			t.Errorf("%v: %v, want %v", c.env, got, want)
		}
	}
}

// What is emulated needs no permission; what passes no time for commands runs none.
func TestWhichExecutorsRunCommands(t *testing.T) {
	if err := (Sleep{}).Allows("", &cluster.Template{}); err != nil {
		t.Error(err)
	}
	if err := (Base{}).Allows("", &cluster.Template{}); err == nil {
		t.Error("an executor of types runs commands")
	}
}

func TestCommandsWithoutAMemoryDemand(t *testing.T) {
	none, some := executortest.Start(1, 0, 1), executortest.Start(1, 64, 1)
	of := func(s worker.Start) worker.Start {
		s.Command = &cluster.Command{Template: &cluster.Template{}}
		return s
	}
	command, demanding := of(none), of(some)
	for want, s := range map[int64]*worker.Start{0: &command, LeastMemory: &none, 64: &demanding} {
		if got := MemoryLimit(s); got != want {
			t.Errorf("limit of %d MiB, want %d", got, want)
		}
	}
}

// What the kernel would not take is refused before it is placed, and an entry that is too long for a variable is none.
func TestWhatTheKernelTakes(t *testing.T) {
	longest := strings.Repeat("x", MaxArgument)
	for _, c := range []struct {
		of   cluster.Template
		want string
	}{
		{cluster.Template{}, "there is no command"},
		{cluster.Template{Argv: []string{""}}, "the name of the program is empty"},
		{cluster.Template{Argv: []string{"x", longest}}, ""},
		{cluster.Template{Argv: []string{"x", longest + "x"}}, `has 131072 bytes, and no program can be given more than 131071 as one`},
		{cluster.Template{Argv: []string{"x"}, Env: []string{"A=" + longest[2:]}}, ""},
		{cluster.Template{Argv: []string{"x"}, Env: []string{"A=" + longest[1:]}}, "variable \"A=xxx"},
		{cluster.Template{Argv: []string{"x"}, Env: []string{"=x"}}, "NAME=VALUE is needed"},
	} {
		err := CheckCommand(&c.of)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	of := &cluster.Template{Argv: []string{"x", "{}", "{}{}"}}
	name := len("DODOOR_ENTRY=")
	for length, there := range map[int]bool{10: true, MaxArgument - name: true, MaxArgument - name + 1: false} {
		s := executortest.Start(1, 64, 1)
		s.Command = &cluster.Command{Template: of, Entries: []string{longest[:length]}}
		if _, found := Variable(CommandEnv(&s, "w"), "DODOOR_ENTRY"); found != there {
			t.Errorf("DODOOR_ENTRY of %d bytes is there: %v", length, found)
		}
		if _, err := CommandArgs(s.Command); (err == nil) != (2*length <= MaxArgument) {
			t.Errorf("two entries of %d bytes: %v", length, err)
		}
	}
}
