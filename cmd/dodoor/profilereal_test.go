package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/conf"
	"dodoor/internal/needs"
)

const programs = `
[process]
allow = ["/usr/bin/sleep", "/usr/bin/false", "/usr/bin/dd"]
[[class]]
name = "here"
cores = 1
memory_mb = 256
disk_mb = 10
[[task_type]]
name = "nap"
executor = "process"
argv = ["/usr/bin/sleep"]
mode = [{ name = "short", argv = ["0.02"], cores = 3, disk_mb = 7, duration = "1h" }, { name = "long", argv = ["0.05"] }]
[[task_type]]
name = "broken"
executor = "process"
argv = ["/usr/bin/false"]
mode = [{ name = "short" }]
[[task_type]]
name = "copy"
executor = "process"
argv = ["/usr/bin/dd", "if=/dev/zero", "of=/dev/null", "bs=32M"]
mode = [{ name = "short", argv = ["count=40"] }]
`

// Programs are measured, whatever figures they had: how long they take, what they keep busy and hold.
func TestProfileOfPrograms(t *testing.T) {
	config := write(t, "c.toml", programs)
	path := filepath.Join(t.TempDir(), "p.toml")
	all := measure(t, "-conf", config, "-class", "here", "-type", "nap,copy", "-n", "3", "-warmup", "1", "-out", path)
	if len(all) != 3 {
		t.Fatalf("%+v", all)
	}
	short, long, busy := all[0], all[1], all[2]
	if short.DurationMs < 20 || long.DurationMs < 50 || short.Cores < 0.1 || short.Cores > 0.9 || short.MemoryMB < 8 {
		t.Errorf("sleep: %+v, %+v", short, long)
	}
	// dd holds a block, of which a fifth and 8 MiB more are set apart, and leaves its core to nobody.
	if busy.Cores < 0.2 || busy.Cores > 1 || busy.MemoryMB < 32*6/5+8 || busy.MemoryMB > 256 || busy.Spread.PeakMemoryMB < 32 ||
		busy.Spread.BusyCores <= 0 {
		t.Errorf("dd: %+v, %+v", busy, *busy.Spread)
	}
	list, err := conf.ReadTypes(path)
	if err != nil {
		t.Fatal(err)
	}
	if m := list.Types[0].Modes[0]; m.Argv[0] != "0.02" || m.Cores != 0 || m.Profiles[0].DiskMB != 7 ||
		list.Types[0].Argv[0] != "/usr/bin/sleep" {
		t.Errorf("%+v", list.Types[0])
	}
	out := t.TempDir()
	trace := write(t, "t.csv", "0,1,1,0,1,0,nap,short\n1,1,1,0,1,1,nap,long\n2,1,1,0,1,2,copy,short\n")
	if _, stderr, code := dodoor("local", "-conf", config, "-types", path, "-trace", trace, "-n", "3", "-warmup", "0", "-qps", "50", "-quiet",
		"-out", out); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, r := range rowsIn(t, out) {
		if r.Outcome.String() != "finished" || r.Estimate != map[string]int64{"0": short.DurationMs, "1": long.DurationMs,
			"2": busy.DurationMs}[r.TaskID] {
			t.Errorf("%+v", r)
		}
	}
}

// A run that fails ends the measuring with exit code 1, or costs its own mode alone.
func TestProfileOfFailures(t *testing.T) {
	config := write(t, "c.toml", programs)
	for _, c := range []struct {
		keep  string
		code  int
		types string
		says  string
	}{
		{"-keep-going=false", exitFailed, "nap", "broken short, run 1 of 2: failed, exit code 1: exit status 1 (-keep-going leaves it out and " +
			"measures the rest)"},
		{"-keep-going", exitDone, "nap copy", "broken short, run 1 of 2: failed, exit code 1: exit status 1"},
	} {
		path := filepath.Join(t.TempDir(), "p.toml")
		_, stderr, code := dodoor("profile", "-conf", config, "-class", "here", "-mode", "short", "-n", "2", "-warmup", "1", "-quiet", c.keep,
			"-out", path)
		if code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit code %d: %s", c.keep, code, stderr)
		}
		list, err := conf.ReadTypes(path)
		if err != nil || namesOf(list.Types) != c.types {
			t.Errorf("%s: %+v, %v", c.keep, list, err)
		}
	}
	path := filepath.Join(t.TempDir(), "p.toml")
	if _, stderr, code := dodoor("profile", "-conf", config, "-class", "here", "-type", "broken", "-quiet", "-keep-going", "-out",
		path); code != exitFailed || !strings.Contains(stderr, "nothing was measured") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("a file without types was written")
	}
}

func namesOf(types []conf.TaskType) string {
	var names []string
	for _, t := range types {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// What stress-ng was told to take is what schedulers are told; how long it took is measured.
func TestProfileOfStress(t *testing.T) {
	requireStressNG(t)
	config := write(t, "c.toml", "[[class]]\nname = \"here\"\ncores = 2\nmemory_mb = 256\n[[task_type]]\nname = \"load\"\nexecutor = "+
		"\"stress-ng\"\n"+
		"mode = [{ name = \"short\", cores = 0.5, memory_mb = 40, duration = \"200ms\" }, { name = \"long\" }]\n")
	all := measure(t, "-conf", config, "-class", "here", "-n", "2", "-warmup", "0", "-duration", "300ms", "-cores", "0.3", "-memory", "30",
		"-out", filepath.Join(t.TempDir(), "p.toml"))
	if len(all) != 2 {
		t.Fatalf("%+v", all)
	}
	for _, f := range all {
		if f.Cores != 0.3 || f.MemoryMB != 30 || f.DurationMs < 300 || f.Spread.BusyCores <= 0 || f.Spread.PeakMemoryMB <= 0 {
			t.Errorf("%+v, %+v", f, *f.Spread)
		}
	}
	if f := measure(t, "-conf", config, "-class", "here", "-mode", "short", "-n", "1", "-warmup", "0", "-out",
		filepath.Join(t.TempDir(), "p.toml"))[0]; f.Cores != 0.5 || f.MemoryMB != 40 || f.DurationMs < 200 {
		t.Errorf("its own figures: %+v", f)
	}
}

// requireImage skips a test where there is no container engine or no image of the tasks.
func requireImage(t *testing.T) {
	t.Helper()
	if err := exec.Command("docker", "image", "inspect", "dodoor/functionbench:latest").Run(); err != nil {
		needs.Real(t, fmt.Errorf("there is no image of the FunctionBench tasks: scripts/functionbench-image builds it (%w)", err))
	}
}

// Containers are measured under the limits of the command, and run by a cluster with what was measured.
func TestProfileOfContainers(t *testing.T) {
	requireImage(t)
	path := filepath.Join(t.TempDir(), "p.toml")
	all := measure(t, "-conf", "docker", "-class", "whole", "-type", "pyaes_generation", "-mode", "short", "-n", "1", "-warmup", "0",
		"-memory", "256", "-out", path)
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	f := all[0]
	if f.Cores < 0.1 || f.Cores > 1 || f.MemoryMB < f.Spread.PeakMemoryMB || f.MemoryMB > 256 || f.Spread.StartupMs <= 0 ||
		f.Spread.StartupMs >= f.Spread.MeanMs {
		t.Errorf("%+v, %+v", f, *f.Spread)
	}
	out := t.TempDir()
	trace := write(t, "t.csv", "0,0.1,10,0,1,0,pyaes_generation,short\n")
	// The demand of a machine that other tests keep busy is too low; how long a task takes under it is not the point.
	if _, stderr, code := dodoor("local", "-conf", "docker", "-types", path, "-set", "class.half.count=0", "-set",
		"task_type.pyaes_generation.mode.short.profile.whole.cores=1",
		"-trace", trace, "-n", "1", "-warmup", "0", "-quiet", "-out", out); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, r := range rowsIn(t, out) {
		if r.Outcome.String() != "finished" || r.Estimate != f.DurationMs || r.Startup <= 0 || r.CPU <= 0 {
			t.Errorf("%+v", r)
		}
	}
	_, stderr, code := dodoor("profile", "-conf", "docker", "-class", "whole", "-type", "pyaes_generation", "-mode", "short", "-n", "1",
		"-warmup", "0", "-memory", "6", "-quiet", "-out", path)
	if code != exitFailed || !strings.Contains(stderr, "out of memory") || !strings.Contains(stderr, "here: -memory") {
		t.Errorf("6 MiB: exit code %d: %s", code, stderr)
	}
}
