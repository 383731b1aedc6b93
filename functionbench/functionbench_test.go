// Package functionbench holds the tasks of FunctionBench as programs in a container image. They are
// written in Python; this is their test.
package functionbench

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"dodoor/conf"
)

// expectation is what the short mode of a task gives, and how much memory is enough for it.
type expectation struct {
	memoryMB int
	checksum string // where the result is the same on every machine
	check    func(t *testing.T, l line)
}

var expectations = map[string]expectation{
	"float_operation":     {24, "1d8e209435714faa", above("sqrt", 5.3e9)}, // 2/3·n^1.5
	"linpack":             {64, "0dcd048beafb97ad", below("residual", 16)},
	"matmul":              {64, "744e4dc2b5b56bb0", above("products", 1)},
	"chameleon_rendering": {64, "c8117e8e0b718a88", above("rows", 1000)},
	"pyaes_generation":    {24, "2ffd652603ff81a3", above("bytes", 1e5)},
	"lr_train":            {132, "", above("accuracy", 0.85)},
	"lr_prediction":       {120, "", above("accuracy", 0.85)},
	"rnn_name_generation": {48, "", aboutLongNames},
}

func above(name string, bound float64) func(*testing.T, line) {
	return func(t *testing.T, l line) {
		if got := l.number(t, name); !(got > bound) {
			t.Errorf("%s is %g, want above %g", name, got, bound)
		}
	}
}

func below(name string, bound float64) func(*testing.T, line) {
	return func(t *testing.T, l line) {
		if got := l.number(t, name); !(got < bound) {
			t.Errorf("%s is %g, want below %g", name, got, bound)
		}
	}
}

// The names of the training set have four to nine letters.
func aboutLongNames(t *testing.T, l line) {
	if mean := l.number(t, "letters") / l.number(t, "names"); !(mean > 4 && mean < 9) {
		t.Errorf("%g letters per name", mean)
	}
}

// catalogue returns the task types as workers know them.
func catalogue(t *testing.T) map[string]conf.TaskType {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.toml")
	text := "include = ['functionbench-docker']\nclass = [{ name = 'laptop', cores = 2, memory_mb = 4096 }]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := conf.Load(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]conf.TaskType{}
	for _, have := range c.Types {
		types[have.Name] = have
	}
	return types
}

func TestEveryTaskDoesItsWork(t *testing.T) {
	needImage(t)
	types := catalogue(t)
	if got, want := slices.Sorted(maps.Keys(types)), slices.Sorted(maps.Keys(expectations)); !slices.Equal(got, want) {
		t.Fatalf("the catalogue has %v, tested are %v", got, want)
	}
	for name, want := range expectations {
		t.Run(name, func(t *testing.T) {
			argv := slices.Concat(types[name].Argv, types[name].Modes[0].Argv)
			first := parse(t, run(t, "1", want.memoryMB, argv...))
			again := parse(t, run(t, "1", want.memoryMB, argv...))
			if first.Task != name || first.Mode != "short" || first.Threads != 1 {
				t.Errorf("on one core: %+v", first)
			}
			if want.checksum != "" && first.Checksum != want.checksum {
				t.Errorf("checksum is %s, want %s", first.Checksum, want.checksum)
			}
			want.check(t, first)
			if again.Checksum != first.Checksum || !maps.EqualFunc(again.Property, first.Property, slices.Equal) {
				t.Errorf("two runs differ:\n%+v\n%+v", first, again)
			}
			for _, l := range []line{first, again} {
				if l.PeakMemoryMB < 5 || l.PeakMemoryMB > float64(want.memoryMB) {
					t.Errorf("%g MiB at its peak, want 5 to %d", l.PeakMemoryMB, want.memoryMB)
				}
				if l.CPUSeconds < 0.05 || l.Seconds <= 0 || l.Startup <= 0 || l.CPUSeconds > l.Seconds+l.Startup+1 {
					t.Errorf("%g s of processor time in %g s of work and %g s of start-up on one core", l.CPUSeconds, l.Seconds, l.Startup)
				}
			}
		})
	}
}

// Libraries would start a thread per core of the machine, which share a fraction of one.
func TestThreadsFollowTheCores(t *testing.T) {
	needImage(t)
	info := docker(t, "info", "--format", "{{.NCPU}}")
	cores, err := strconv.Atoi(strings.TrimSpace(info.stdout))
	if err != nil {
		t.Fatalf("%v: %s", err, info.stderr)
	}
	cases := map[string]int{"0.5": 1, "1": 1}
	if cores > 1 {
		cases["1.5"], cases["2"] = 2, 2
	}
	for cpus, want := range cases {
		l := parse(t, run(t, cpus, 64, "linpack", "short"))
		if l.Threads != want || l.Checksum != expectations["linpack"].checksum {
			t.Errorf("with %s cores: %d threads, want %d; checksum %s", cpus, l.Threads, want, l.Checksum)
		}
	}
}

func TestWhatTheTasksAreCalled(t *testing.T) {
	needImage(t)
	for _, c := range []struct {
		argv []string
		want string
	}{
		{[]string{"fibonacci", "short"}, "there is no task 'fibonacci'"},
		{[]string{"linpack", "tiny"}, "there is no mode 'tiny'"},
		{[]string{"linpack"}, "found 1 arguments"},
		{[]string{"../linpack", "short"}, "there is no task '../linpack'"},
		{nil, "found 0 arguments"},
	} {
		got := run(t, "1", 64, c.argv...)
		if got.exit != 2 || got.stdout != "" || !strings.Contains(got.stderr, c.want) {
			t.Errorf("%v: %+v, want exit code 2 and %q", c.argv, got, c.want)
		}
		for name := range expectations {
			if !strings.Contains(got.stderr, name) {
				t.Errorf("%v: %q does not list %s", c.argv, got.stderr, name)
			}
		}
	}
}

func TestWrongResultsFail(t *testing.T) {
	needImage(t)
	const digests = "/opt/functionbench/inputs/names-digests.json"
	wrong := filepath.Join(t.TempDir(), "digests.json")
	if err := os.WriteFile(wrong, []byte(`{"short": "0123456789abcdef"}`), 0o644); err != nil {
		t.Fatal(err)
	}
	name := ownName(t)
	for _, args := range [][]string{
		{"create", "--name", name, "--network", "none", image, "rnn_name_generation", "short"},
		{"cp", wrong, name + ":" + digests},
	} {
		if got := docker(t, args...); got.exit != 0 {
			t.Fatalf("docker %s: %s", args[0], got.stderr)
		}
	}
	got := docker(t, "start", "--attach", name)
	if want := "rnn_name_generation short: the names have the checksum"; got.exit != 1 || got.stdout != "" ||
		!strings.Contains(got.stderr, want) {
		t.Errorf("%+v, want exit code 1 and %q", got, want)
	}
}

func TestAnImageWithoutInputsSaysSo(t *testing.T) {
	needImage(t)
	for _, task := range []string{"lr_train", "lr_prediction", "rnn_name_generation"} {
		got := docker(t, "run", "--name", ownName(t), "--rm", "--network", "none",
			"--tmpfs", "/opt/functionbench/inputs", image, task, "short")
		if want := "No such file"; got.exit != 1 || got.stdout != "" || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v, want exit code 1 and %q", task, got, want)
		}
	}
}
