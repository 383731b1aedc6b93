package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/profile"
)

// sleepers has the types of a FunctionBench trace, which wait a few milliseconds: long on the class slow.
func sleepers() string {
	var b strings.Builder
	b.WriteString("[scheduler]\nreplicas = 2\n")
	for _, class := range []string{"fast", "slow"} {
		b.WriteString("[[class]]\nname = \"" + class + "\"\ncores = 2\nmemory_mb = 64\ndisk_mb = 10\n")
	}
	for _, name := range generator.FunctionBenchTypes {
		b.WriteString("[[task_type]]\nname = \"" + name + "\"\nargv = [\"ignored\"]\n[[task_type.mode]]\nname = \"short\"\nargv = [\"" + name +
			"\"]\n" +
			"cores = 0.5\nmemory_mb = 8\ndisk_mb = 3\nduration = \"5ms\"\nprofile = [{ class = \"slow\", cores = 1.5, duration = \"25ms\" }]\n")
	}
	return b.String()
}

// measure runs `dodoor profile` and returns what it lists.
func measure(t *testing.T, args ...string) []profile.Figures {
	t.Helper()
	stdout, stderr, code := dodoor(append([]string{"profile", "-json", "-quiet"}, args...)...)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	var all []profile.Figures
	if err := json.Unmarshal([]byte(stdout), &all); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	return all
}

// Measured on two classes, merged, and handed to a cluster: schedulers estimate what was measured, the
// trace takes its figures from a class that there is, and every task runs.
func TestProfileFromMeasuringToPlacing(t *testing.T) {
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, "deeper", name) }
	config := write(t, "c.toml", sleepers())
	for class, least := range map[string]int64{"fast": 5, "slow": 25} {
		all := measure(t, "-conf", config, "-class", class, "-n", "3", "-warmup", "1", "-out", in(class+".toml"))
		if len(all) != 8 {
			t.Fatalf("%d modes", len(all))
		}
		for _, f := range all {
			told := map[string]float64{"fast": 0.5, "slow": 1.5}[class]
			if f.Class != class || f.Mode != "short" || f.Spread.Runs != 2 || f.DurationMs < least || f.Spread.MeanMs < float64(least) ||
				f.Cores != told {
				t.Errorf("%+v, %+v", f, *f.Spread)
			}
		}
		if picture, err := os.ReadFile(in(class + ".svg")); err != nil || !bytes.Contains(picture, []byte("Run times on class "+class)) {
			t.Errorf("the picture: %v", err)
		}
	}
	stdout, stderr, code := dodoor("profile", "-merge", in("fast.toml")+", "+in("slow.toml"), "-out", in("types.toml"))
	if code != exitDone || strings.Count(stdout, "short") != 16 || stderr != "" {
		t.Fatalf("exit code %d\n%s%s", code, stdout, stderr)
	}
	// Without the figures that the configuration has itself, so that all come from the file.
	bare := write(t, "bare.toml", strings.ReplaceAll(strings.ReplaceAll(sleepers(),
		"cores = 0.5\nmemory_mb = 8\ndisk_mb = 3\nduration = \"5ms\"\n", ""),
		"profile = [{ class = \"slow\", cores = 1.5, duration = \"25ms\" }]\n", ""))
	if stdout, stderr, code := dodoor("conf", "check", bare, "-types", in("types.toml")); code != exitDone ||
		strings.Contains(stdout, "warning") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	if stdout, _, _ := dodoor("conf", "check", bare, "-types", in("fast.toml")); !strings.Contains(stdout, `none for class "slow"`) {
		t.Errorf("no warning of a class that was not measured: %s", stdout)
	}
	out := t.TempDir()
	if _, stderr, code := dodoor("local", "-conf", bare, "-types", in("types.toml"), "-policy", "random", "-trace", "functionbench", "-n",
		"60", "-warmup", "0", "-qps", "100", "-quiet", "-out", out); code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	estimated(t, in("types.toml"), rowsIn(t, out))
	if _, stderr, code := dodoor("simulate", "-conf", bare, "-types", in("types.toml"), "-n", "60", "-warmup", "0", "-quiet", "-out",
		t.TempDir()); code != exitDone {
		t.Errorf("simulate: exit code %d: %s", code, stderr)
	}
	if stdout, stderr, code := dodoor("trace", "functionbench", "-conf", bare, "-types", in("types.toml"), "-n", "5"); code != exitDone ||
		strings.Count(stdout, "\n") < 5 {
		t.Errorf("trace: exit code %d: %s%s", code, stdout, stderr)
	}
}

// estimated checks that every task's estimate and demand are those of the file.
func estimated(t *testing.T, file string, rows []generator.Row) {
	t.Helper()
	list, err := conf.ReadTypes(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]profile.Figures{}
	for _, f := range profile.List(list.Types, nil) {
		want[f.Type+f.Class] = f
	}
	classes := map[string]int{}
	for _, r := range rows {
		classes[r.Class]++
		if f := want[r.Type+r.Class]; r.Estimate != f.DurationMs || float64(r.Cores) != 1000*f.Cores {
			t.Errorf("task %s (%s on %s): estimate %d ms, %d millicores, measured were %+v", r.TaskID, r.Type, r.Class, r.Estimate, r.Cores, f)
		}
	}
	if len(rows) != 60 || len(classes) != 2 {
		t.Errorf("%d tasks on %v", len(rows), classes)
	}
}

// whenever runs a function as soon as a text is written.
type whenever struct {
	bytes.Buffer
	text string
	do   func()
}

func (w *whenever) Write(p []byte) (int, error) {
	if w.do != nil && bytes.Contains(p, []byte(w.text)) {
		w.do()
		w.do = nil
	}
	return w.Buffer.Write(p)
}

// A signal ends the measuring; what has been measured is kept.
func TestProfileStopped(t *testing.T) {
	config := write(t, "c.toml", "[[class]]\nname = \"c\"\ncores = 1\nmemory_mb = 64\n[[task_type]]\nname = \"brief\"\nmode = [{ name = "+
		"\"short\", cores = 1, duration = \"1ms\" }]\n"+
		"[[task_type]]\nname = \"endless\"\nmode = [{ name = \"short\", cores = 1, duration = \"1h\" }]\n")
	path := filepath.Join(t.TempDir(), "p.toml")
	stderr := &whenever{text: "type=brief", do: func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			t.Error(err)
		}
	}}
	var stdout bytes.Buffer
	code := dispatch([]string{"profile", "-conf", config, "-class", "c", "-n", "2", "-warmup", "0", "-out", path}, &stdout, stderr)
	if code != exitFailed || !strings.Contains(stderr.String(), "stopped by a signal after 2 of at most 4 runs") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	list, err := conf.ReadTypes(path)
	if err != nil || len(list.Types) != 1 || list.Types[0].Name != "brief" || !strings.Contains(stdout.String(), path) {
		t.Errorf("%+v, %v\n%s", list, err, &stdout)
	}
}

func TestProfileRefuses(t *testing.T) {
	dir, folder := t.TempDir(), filepath.Join(t.TempDir(), "folder.toml")
	if err := os.Mkdir(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	config := write(t, "c.toml", sleepers()+"[[task_type]]\nname = \"any\"\n[[task_type]]\nname = \"untold\"\nexecutor = "+
		"\"stress-ng\"\nmode = [{ name = \"long\" }]\n")
	one := write(t, "one.toml", "[[task_type]]\nname = \"t\"\nmode = [{ name = \"short\",\nprofile = [{ class = \"c\", cores = 1, duration "+
		"= \"1ms\" }] }]\n")
	for want, args := range map[string][]string{
		`-class "": must be one of fast, slow`:            {"-conf", config},
		`-class "vax": must be one of fast, slow`:         {"-conf", config, "-class", "vax"},
		`-type "nope": the configuration has float_oper`:  {"-conf", config, "-class", "fast", "-type", "nope"},
		"-type any has no modes":                          {"-conf", config, "-class", "fast", "-type", "any"},
		`-mode "huge": none of linpack has it`:            {"-conf", config, "-class", "fast", "-type", "linpack", "-mode", "huge"},
		"-n 2, -warmup 2":                                 {"-conf", config, "-class", "fast", "-n", "2"},
		"-cores 3: must be a multiple of 0.001 up to 2":   {"-conf", config, "-class", "fast", "-cores", "3"},
		"-cores 0.0005: must be":                          {"-conf", config, "-class", "fast", "-cores", "0.0005"},
		"-cores NaN: must be":                             {"-conf", config, "-class", "fast", "-cores", "NaN"},
		"-memory 65: must be between 1 and 64 MiB":        {"-conf", config, "-class", "fast", "-memory", "65"},
		"-duration 1.5ms: allowed are whole milliseconds": {"-conf", config, "-class", "fast", "-duration", "1500us"},
		"untold long has no figures for class fast":       {"-conf", config, "-class", "fast", "-type", "untold"},
		"-duration is for executors sleep and stress-ng":  {"-class", "whole", "-duration", "1s"},
		"no task type has a mode to measure":              {"-conf", "single", "-class", "laptop"},
		"process.allow is empty":                          {"-conf", config, "-class", "fast", "-set", "worker.executor=process"},
		"is a directory":                                  {"-conf", config, "-class", "fast", "-type", "linpack", "-out", folder},
		"must end in .toml": {"-conf", config, "-class", "fast", "-type", "linpack", "-out",
			filepath.Join(dir, "x.svg")},
		"choose another with -out":                 {"-conf", config, "-class", "fast", "-type", "linpack", "-out", "/dev/null/x.toml"},
		"-class, -n: -merge measures nothing":      {"-merge", one, "-class", "fast", "-n", "3"},
		"-merge needs -out":                        {"-merge", one},
		"one.toml:4: t, short, class c: there are": {"-merge", one + "," + one, "-out", filepath.Join(dir, "x.toml")},
		"nowhere.toml: no such file":               {"-merge", one + ",nowhere.toml", "-out", filepath.Join(dir, "x.toml")},
		"read task types: open nowhere.toml":       {"-conf", config, "-types", "nowhere.toml", "-class", "fast"},
		`unexpected argument "fast"`:               {"fast"},
	} {
		_, stderr, code := dodoor(append([]string{"profile"}, args...)...)
		if code != exitUsage || !strings.Contains(stderr, want) {
			t.Errorf("%v: exit code %d, says %q; want %q", args, code, stderr, want)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 0 {
		t.Errorf("left behind: %v", files)
	}
}

// A trace that needs figures says where they come from.
func TestTraceWithoutFigures(t *testing.T) {
	for _, command := range []string{"local", "simulate"} {
		_, stderr, code := dodoor(command, "-conf", "docker", "-out", t.TempDir())
		if code != exitUsage || !strings.Contains(stderr, "measure them with dodoor profile, and pass what it writes with -types") {
			t.Errorf("%s: exit code %d: %s", command, code, stderr)
		}
	}
}
