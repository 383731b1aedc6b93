package job

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

func template(argv ...string) *cluster.Template { return &cluster.Template{Argv: argv} }

// Combinations come as nested loops make them, the first list outermost; of linked lists the shortest counts.
func TestCombinations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var in Inputs
		want := [][]string{nil} // the combinations so far
		var group [][]string    // of linked lists
		multiply := func() {
			if len(group) == 0 {
				return
			}
			shortest := len(slices.MinFunc(group, func(a, b []string) int { return len(a) - len(b) }))
			var more [][]string
			for _, before := range want {
				for k := range shortest {
					entries := slices.Clone(before)
					for _, l := range group {
						entries = append(entries, l[k])
					}
					more = append(more, entries)
				}
			}
			want, group = more, nil
		}
		for range rapid.IntRange(0, 4).Draw(t, "lists") {
			entries := rapid.SliceOfN(rapid.StringN(0, 3, 6), 1, 4).Draw(t, "entries")
			for i := range entries {
				entries[i] = strings.ReplaceAll(entries[i], "\x00", "")
			}
			linked := in.Lists() > 0 && rapid.Bool().Draw(t, "linked")
			if err := in.Add("list", entries, linked); err != nil {
				t.Fatal(err)
			}
			if !linked {
				multiply()
			}
			group = append(group, entries)
		}
		multiply()
		p, err := NewPlan(template("x"), in, nil, Figures{})
		if err != nil || p.Len() != int64(len(want)) {
			t.Fatalf("%d tasks, want %d: %v", p.Len(), len(want), err)
		}
		for i, entries := range want {
			task := p.At(int64(i))
			if task.Index != int64(i+1) || !slices.Equal(task.Entries, entries) || task.Template.Digest() != task.Digest {
				t.Fatalf("task %d: %+v, want %q", i, task, entries)
			}
		}
	})
}

// An array counts as a loop does.
func TestArrays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var parts []string
		var want []int64
		next := int64(0)
		for range rapid.IntRange(1, 4).Draw(t, "ranges") {
			first := next + rapid.Int64Range(0, 5).Draw(t, "gap")
			last, step := first+rapid.Int64Range(0, 9).Draw(t, "span"), rapid.Int64Range(1, 4).Draw(t, "step")
			parts = append(parts, fmt.Sprintf("%d-%d:%d", first, last, step))
			for n := first; n <= last; n += step {
				want = append(want, n)
			}
			next = last + 1
		}
		a, err := ParseArray(strings.Join(parts, ","))
		if err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(template("x"), Inputs{}, a, Figures{})
		if err != nil || p.Len() != int64(len(want)) {
			t.Fatalf("%v: %d tasks, want %d: %v", parts, p.Len(), len(want), err)
		}
		for i, n := range want {
			if task := p.At(int64(i)); task.Index != n || !slices.Equal(task.Entries, []string{strconv.FormatInt(n, 10)}) {
				t.Fatalf("task %d: %+v, want %d", i, task, n)
			}
		}
	})
}

// A million tasks are made one by one: the plan holds none of them.
func TestPlansTakeNoRoom(t *testing.T) {
	a, err := ParseArray("1-1000000")
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlan(template("x", "{}"), Inputs{}, a, Figures{})
	if err != nil {
		t.Fatal(err)
	}
	first, last := p.At(0), p.At(999_999)
	if first.Template != last.Template || last.Index != 1_000_000 || last.Entries[0] != "1000000" {
		t.Errorf("%+v, %+v", first, last)
	}
	if n := testing.AllocsPerRun(100, func() { p.At(500_000) }); n > 2 {
		t.Errorf("a task takes %v allocations", n)
	}
}

// Inputs without a place go to the end, as GNU parallel does; the number of a task is a place.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ argv, want string }{
		{"gzip -k", "gzip -k {}"}, {"gzip -k {}", "gzip -k {}"}, {"echo {#}", "echo {#}"}, {"mv {.}.gz x", "mv {.}.gz x"},
	} {
		var in Inputs
		if err := in.Add(":::", []string{"a"}, false); err != nil {
			t.Fatal(err)
		}
		p, err := NewPlan(template(strings.Fields(c.argv)...), in, nil, Figures{})
		if err != nil || strings.Join(p.At(0).Template.Argv, " ") != c.want {
			t.Errorf("%s: %v, %v", c.argv, p, err)
		}
	}
}

func TestWrongInput(t *testing.T) {
	add := func(lists ...[]string) error {
		var in Inputs
		for _, l := range lists {
			if err := in.Add("list a.txt", l, false); err != nil {
				return err
			}
		}
		return nil
	}
	plan := func(lists int, argv ...string) error {
		var in Inputs
		for range lists {
			if err := in.Add(":::", []string{"a"}, false); err != nil {
				return err
			}
		}
		_, err := NewPlan(template(argv...), in, nil, Figures{})
		return err
	}
	array := func(text string) error { _, err := ParseArray(text); return err }
	many := make([]string, 100_000)
	for _, c := range []struct {
		err  error
		says string
	}{
		{add(nil), "list a.txt has no entries"},
		{add([]string{"a", strings.Repeat("x", cluster.MaxEntry+1)}), "list a.txt, entry 2 has 65537 bytes: at most 65536"},
		{add([]string{"a\x00"}), "zero byte"},
		{add(many, many), "more than 100000000 tasks"},
		{(&Inputs{}).Add("::::+", []string{"a"}, true), "linked to the list before it, and there is none"},
		{plan(0), "there is no command"},
		{plan(0, "ls", "{}"), "there is no list of entries"},
		{plan(0, "ls", "{/.}"), "there is no list of entries"},
		{plan(0, "ls", "{#}"), ""},
		{plan(2, "ls", "{1}", "{3}"), "has {3}, and there are 2 lists"},
		{array(""), "whole number"}, {array("1-"), "whole number"}, {array("-5"), "whole number"}, {array("a-b"), "whole number"},
		{array("5-1"), "goes down"}, {array("1-5:0"), "never ends"}, {array("7:2"), "no range before"},
		{array("1-5,5"), "none comes twice"}, {array("1-9007199254740993"), "2^53"}, {array("1-999999999"), "more than 100000000"},
	} {
		if c.says == "" && c.err != nil || c.says != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.says)) {
			t.Errorf("%v, want %q", c.err, c.says)
		}
	}
	a, _ := ParseArray("1-2")
	var in Inputs
	if err := in.Add(":::", []string{"a"}, false); err != nil {
		t.Fatal(err)
	}
	if _, err := NewPlan(template("x"), in, a, Figures{}); err == nil {
		t.Error("an array and a list are taken together")
	}
}
