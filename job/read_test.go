package job

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
	"dodoor/internal/placeholder"
)

func TestSplit(t *testing.T) {
	argv, sources := Split(strings.Fields("cp {1} {2} ::: a b ::::+ f g :::"))
	want := []Source{{":::", false, false, []string{"a", "b"}}, {"::::+", true, true, []string{"f", "g"}}, {":::", false, false, nil}}
	same := func(a, b Source) bool {
		return a.Word == b.Word && a.Files == b.Files && a.Linked == b.Linked && slices.Equal(a.Items, b.Items)
	}
	if !slices.Equal(argv, []string{"cp", "{1}", "{2}"}) || !slices.EqualFunc(sources, want, same) {
		t.Errorf("%q, %+v", argv, sources)
	}
	if argv, sources = Split([]string{"ls", "::"}); len(argv) != 2 || sources != nil {
		t.Errorf("%q, %+v", argv, sources)
	}
}

// The lines of a text, joined, are the text; whether the last one ends does not matter.
func TestLines(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOf(rapid.SampledFrom([]byte("ab\n\r\xff"))).Draw(t, "text")
		joined := strings.Join(Lines(bytes.Clone(text)), "\n")
		if joined != string(text) && joined+"\n" != string(text) {
			t.Fatalf("%q became %q", text, joined)
		}
	})
}

func TestTasksOfLines(t *testing.T) {
	text := `{"argv": ["gzip", "a"], "env": {"B": "2", "A": "1"}, "stdin": "in", "cores": 0.5, "memory": 64, "duration": "1m", "name": "first"}

{"argv": ["echo", "{}"], "name": "x", "memory": 7}
{"argv": ["plain"]}
`
	ms := int64(5)
	p, err := ReadTasks([]byte(text), cluster.Template{Env: []string{"Z=0"}, Workdir: "/w", TimeLimit: time.Second},
		Figures{Demand: &cluster.Resources{cluster.Cores: 2000}, Duration: &ms})
	if err != nil || p.Len() != 3 {
		t.Fatal(p, err)
	}
	a, b, c := p.At(0), p.At(1), p.At(2)
	if a.Index != 1 || a.Entries[0] != "first" || string(a.Template.Stdin) != "in" || *a.Duration != 60_000 ||
		*a.Demand != (cluster.Resources{cluster.Cores: 500, cluster.Memory: 64}) || !slices.Equal(a.Template.Env, []string{"Z=0", "A=1", "B=2"}) {
		t.Errorf("%+v, %+v", a, a.Template)
	}
	if got := placeholder.Expand(b.Template.Argv, b.Index, b.Entries); !slices.Equal(got, []string{"echo", "x"}) ||
		*b.Demand != (cluster.Resources{cluster.Cores: 2000, cluster.Memory: 7}) || *b.Duration != 5 {
		t.Errorf("%+v runs %q", b, got)
	}
	if c.Index != 3 || c.Entries != nil || c.Template.Workdir != "/w" || c.Digest != c.Template.Digest() || c.Demand[cluster.Cores] != 2000 {
		t.Errorf("%+v, %+v", c, c.Template)
	}
}

// A line may leave a demand to experience, or say it where the others leave it.
func TestLinesLeaveDemandsToExperience(t *testing.T) {
	text := `{"argv": ["a"], "cores": "auto", "memory": 7}
{"argv": ["a"], "memory": "auto"}
{"argv": ["a"], "cores": 2}`
	p, err := ReadTasks([]byte(text), cluster.Template{}, Figures{Demand: &cluster.Resources{500, 5}, LearnCores: true})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Figures{{&cluster.Resources{0, 7}, nil, true, false}, {&cluster.Resources{500, 0}, nil, true, true},
		{&cluster.Resources{2000, 5}, nil, false, false}} {
		got := p.At(int64(i)).Figures
		if *got.Demand != *want.Demand || got.LearnCores != want.LearnCores || got.LearnMemory != want.LearnMemory {
			t.Errorf("line %d: %+v, %v", i+1, got, *got.Demand)
		}
	}
}

// A line that is wrong is named, and nothing comes of the others.
func TestWrongLines(t *testing.T) {
	good := `{"argv": ["a"]}` + "\n"
	for line, says := range map[string]string{
		`{"argv": []}`:                                          "there is no command",
		`{"argv": [""]}`:                                        "name of the program is empty",
		`{"argv": ["a"`:                                         "is no task",
		`{"argv": "a"}`:                                         "is no task",
		`[]`:                                                    "is no task",
		`{"argv": ["a"], "cors": 1}`:                            `unknown field "cors"`,
		`{"argv": ["a"]} {}`:                                    "more than one",
		`{"argv": ["a"], "cores": 0.00001}`:                     "cores: 1e-05",
		`{"argv": ["a"], "memory": -1}`:                         "memory: -1",
		`{"argv": ["a"], "memory": 1.5}`:                        "1.5: a number is expected, whole for memory",
		`{"argv": ["a"], "cores": "many"}`:                      `"many": a number is expected`,
		`{"argv": ["a"], "duration": "soon"}`:                   `duration: "soon"`,
		`{"argv": ["a"], "duration": "1us"}`:                    "whole milliseconds",
		`{"argv": ["a"], "env": {"": "x"}}`:                     "environment variable",
		`{"argv": ["a", "{}"]}`:                                 "no list of entries",
		`{"argv": ["a\u0000"]}`:                                 "zero byte",
		"\ufeff" + good:                                         "byte order mark",
		"{\"argv\": [\"a\xff\"]}":                               "is not UTF-8",
		`{"argv": ["a"], "argv": ["b"]}`:                        `has "argv" twice`,
		`{"argv": ["a"], "Env": {}}`:                            `has "Env": keys are argv, env`,
		`{"argv": ["a"], "env": {"A": "1", "B": "", "A": "2"}}`: `has "A" twice`,
		`{"argv": ["a", "{2}"], "name": "n"}`:                   "{2}",
	} {
		p, err := ReadTasks([]byte(good+"\n"+line+"\n"+good), cluster.Template{}, Figures{})
		if p != nil || err == nil || !strings.HasPrefix(err.Error(), "line 3: ") || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, %v; want %q", line, p, err, says)
		}
	}
	if _, err := ReadTasks([]byte("\n\n"), cluster.Template{}, Figures{}); err == nil {
		t.Error("no tasks are a job")
	}
}

func TestDirectives(t *testing.T) {
	script := "#!/bin/sh\n# about\n#DODOOR -cores 2 -name \"my job\"\n\n  #DODOOR\t-env 'A=b c'\n#DODOORS -no\ntrue\n#DODOOR -late\n"
	flags, err := Directives([]byte(script))
	if want := []string{"-cores", "2", "-name", "my job", "-env", "A=b c"}; err != nil || !slices.Equal(flags, want) {
		t.Errorf("%q, %v", flags, err)
	}
	if _, err := Directives([]byte("#!x\n#DODOOR -name \"open\n")); err == nil || !strings.HasPrefix(err.Error(), "line 2: #DODOOR: a quote") {
		t.Error(err)
	}
}

// What was quoted is cut into the same words again; a shell agrees.
func TestQuotedWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		argv := rapid.SliceOfN(rapid.StringOf(rapid.SampledFrom([]rune("aB0 '\"\\\t$`*{}~#-=é"))), 1, 4).Draw(t, "argv")
		got, err := Words(Quote(argv))
		if err != nil || !slices.Equal(got, argv) {
			t.Fatalf("%q became %s, and that %q, %v", argv, Quote(argv), got, err)
		}
	})
	argv := []string{"a b", "it's", "$HOME", "*", "", "x\ny", "~", "é"}
	out, err := exec.Command("sh", "-c", "printf '%s|' "+Quote(argv)).Output()
	if err != nil || string(out) != strings.Join(argv, "|")+"|" {
		t.Errorf("a shell says %q, %v", out, err)
	}
}

// Names sort as their moments do, and say which task they are.
func TestIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.Int64Range(0, 1<<42).Draw(t, "a"), rapid.Int64Range(0, 1<<42).Draw(t, "b")
		first, second := NewID(time.Duration(a)*time.Millisecond, rapid.Uint64().Draw(t, "x")),
			NewID(time.Duration(b)*time.Millisecond, rapid.Uint64().Draw(t, "y"))
		if a < b && first >= second || len(first) != 13 {
			t.Fatalf("%s of %d, %s of %d", first, a, second, b)
		}
		index := rapid.Int64Range(0, 1<<60).Draw(t, "index")
		if job, i, task := ParseID(TaskID(first, index)); job != first || i != index || !task {
			t.Fatalf("%s, %d, %v", job, i, task)
		}
	})
	for _, name := range []string{"abc", "abc.", ".1", "abc.-1", "abc.01", "abc.x", "", "abc.1x"} {
		if job, _, task := ParseID(name); job != name || task {
			t.Errorf("%q is a task of %q", name, job)
		}
	}
	if moment := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli(); NewID(time.Duration(moment)*time.Millisecond, 0) != "1kdvdna000000" {
		t.Errorf("an id of this century: %s", NewID(time.Duration(moment)*time.Millisecond, 0))
	}
}

func FuzzReading(f *testing.F) {
	f.Add([]byte(`{"argv": ["a"], "env": {"A": "b"}, "name": "n"}`))
	f.Add([]byte("#DODOOR -cores '2\n"))
	f.Add([]byte("1-10:3,12"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if p, err := ReadTasks(bytes.Clone(text), cluster.Template{}, Figures{}); err == nil {
			for i := range p.Len() {
				if task := p.At(i); task.Template.Check() != nil || task.Index != i+1 {
					t.Errorf("task %d: %+v", i, task)
				}
			}
		}
		if flags, err := Directives(text); err == nil {
			if again, err := Words(Quote(flags)); err != nil || !slices.Equal(again, flags) {
				t.Errorf("%q became %q, %v", flags, again, err)
			}
		}
		if a, err := ParseArray(string(text)); err == nil && a.count < 1000 {
			for i := range a.count - 1 {
				if a.at(i+1) <= a.at(i) {
					t.Errorf("%s: %d comes after %d", text, a.at(i+1), a.at(i))
				}
			}
		}
	})
}
