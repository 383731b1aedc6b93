package conf

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"dodoor/baselines"
	"dodoor/scheduler"
)

// The least that is valid, on one line, so that a case's own text starts on line 2.
const laptop = `class = [{ name = "laptop", cores = 2, memory_mb = 4096 }]` + "\n"

// load is Load of a text.
func load(main source, open opener, sets []string, types ...source) (*Config, error) {
	base, err := read(main, open, types...)
	if err != nil {
		return nil, err
	}
	return base.With(sets)
}

func loadText(text string, sets ...string) (*Config, error) {
	return load(source{"t.toml", []byte(text)}, openEmbedded, sets)
}

func TestBadInput(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unknown key, near", "[scheduler]\nb_detla = 4", "t.toml:3: scheduler.b_detla: unknown key: did you mean b_delta?"},
		{"unknown key, far", "[log]\ncolour = 1", "t.toml:3: log.colour: unknown key: allowed here are level, format"},
		{"unknown section", "[schedular]\nb = 1", "t.toml:2: schedular: unknown key: did you mean scheduler?"},
		{"wrong case", "[scheduler]\nB_Delta = 4", "t.toml:3: scheduler.B_Delta: unknown key: upper and lower case differ, did you mean " +
			"b_delta?"},
		{"wrong case of a section", "[Score]\nalpha = 1", "t.toml:2: Score: unknown key: upper and lower case differ, did you mean score?"},
		{"quoted unknown key", "[score]\n\"a.b\" = 1", `t.toml:3: score."a.b": unknown key: allowed here are alpha, kind, beta, weighted`},
		{"duplicate key", "[scheduler]\nb_delta = 4\nname = \"a\"\nb_delta = 8", "t.toml:5: scheduler.b_delta is set twice: first on line 3"},
		{"duplicate table", "[rpc]\n[log]\n[rpc]", "t.toml:4: rpc is set twice: first on line 2"},
		{"duplicate dotted key", "log.level = \"info\"\nlog.level = \"warn\"", "t.toml:3: log.level is set twice: first on line 2"},
		{"duplicate key in an inline table", "log = { level = \"info\", level = \"warn\" }", "t.toml:2: log.level is set twice: first on line 2"},
		{"string for an integer", "[datastore]\nb = \"many\"", `t.toml:3: datastore.b: must be an integer, found string "many"`},
		{"float for an integer", "[datastore]\nb = 8.0", "t.toml:3: datastore.b: must be an integer, found number 8"},
		{"string for a number", "[score]\nalpha = \"half\"", `t.toml:3: score.alpha: must be a number, found string "half"`},
		{"integer for a string", "[worker]\nname = 7", "t.toml:3: worker.name: must be a string, found integer 7"},
		{"integer for a boolean", "[rpc]\ncoalesce = 1", "t.toml:3: rpc.coalesce: must be true or false, found integer 1"},
		{"value for a table", "scheduler = true", "t.toml:2: scheduler: must be a table, found boolean true"},
		{"list for a table", "[[scheduler]]", "t.toml:2: scheduler: must be a table, found a list"},
		{"table for a list of tables", "[task_type]\nname = \"x\"", "t.toml:2: task_type: must be a list of tables, found a table"},
		{"table for a list of strings", "[generator.schedulers]", "t.toml:2: generator.schedulers: must be a list of strings, found a table"},
		{"date for a string", "[worker]\nname = 2026-01-02", "t.toml:3: worker.name: must be a string, found a date or time"},
		{"integer in a list of strings", "[generator]\nschedulers = [\n \"h:1\",\n 2,\n]",
			"t.toml:5: generator.schedulers[1]: must be a string, found integer 2"},
		{"b = 0", "[datastore]\nb = 0", "t.toml:3: datastore.b: must be between 1 and 100000000, found 0"},
		{"alpha = 2", "[score]\nalpha = 2", "t.toml:3: score.alpha: must be between 0 and 1, found 2"},
		{"NaN", "[worker]\nnoise = nan", "t.toml:3: worker.noise: must be a finite number, found NaN"},
		{"infinity", "[generator]\nqps = -inf", "t.toml:3: generator.qps: must be a finite number, found -Inf"},
		{"qps = -1", "[generator]\nqps = -1", "t.toml:3: generator.qps: must be between 0 and 1e+06, found -1"},
		{"burst = 0", "[generator]\nburst = 0", "t.toml:3: generator.burst: must be between 1 and 10, found 0"},
		{"burst = 11", "[generator]\nburst = 11", "t.toml:3: generator.burst: must be between 1 and 10, found 11"},
		{"burst of the trace's own times", "[generator]\nqps = 0\nburst = 2",
			"t.toml:4: generator.burst: must be 1 where generator.qps is 0 (the trace's own times), found 2"},
		{"negative seed", "seed = -1", "t.toml:2: seed: must be at least 0, found -1"},
		{"bare integer duration", "[rpc]\ncall_timeout = 5",
			`t.toml:3: rpc.call_timeout: must be a duration such as "250ms", "1.5s" or "10m", found integer 5 (a bare number has no unit)`},
		{"boolean duration", "[rpc]\ncall_timeout = true",
			`t.toml:3: rpc.call_timeout: must be a duration such as "250ms", "1.5s" or "10m", found boolean true`},
		{"duration without a unit", "[rpc]\ncall_timeout = \"5\"",
			`t.toml:3: rpc.call_timeout: must be a duration such as "250ms", "1.5s" or "10m", found string "5"`},
		{"negative duration", "[scheduler]\nmax_staleness = \"-1s\"",
			"t.toml:3: scheduler.max_staleness: must be 0s or between 1ms and 8760h0m0s, found -1s"},
		{"timeout of nothing", "[rpc]\ncall_timeout = \"0s\"", "t.toml:3: rpc.call_timeout: must be between 1ms and 8760h0m0s, found 0s"},
		{"address without a port", "[worker]\nlisten = \"localhost\"",
			`t.toml:3: worker.listen: must be host:port with a port between 0 and 65535, found "localhost"`},
		{"port too large", "[worker]\nlisten = \"localhost:65536\"",
			`t.toml:3: worker.listen: must be host:port with a port between 0 and 65535, found "localhost:65536"`},
		{"dialling port 0", "[datastore]\naddress = \"host:0\"",
			`t.toml:3: datastore.address: must be host:port with a port between 1 and 65535, found "host:0"`},
		{"the same scheduler twice", "[generator]\nschedulers = [\"h:1\", \"h:1\"]",
			`t.toml:3: generator.schedulers[1]: "h:1" is there already (first in t.toml:3)`},
		{"name with a comma", "[worker]\nname = \"a,b\"",
			`t.toml:3: worker.name: must be 1 to 128 letters, digits, dots, dashes or underscores, found "a,b"`},
		{"unknown executor", "[worker]\nexecutor = \"podman\"",
			`t.toml:3: worker.executor: must be "", "sleep", "stress-ng", "docker" or "process", found "podman"`},
		{"unknown executor of a type", "[[task_type]]\nname = \"x\"\nexecutor = \"podman\"",
			`t.toml:4: task_type.x.executor: must be "sleep", "stress-ng", "docker" or "process", found "podman"`},
		{"unknown score", "[score]\nkind = \"max\"", `t.toml:3: score.kind: must be "per-dimension", "norm" or "raw", found "max"`},
		{"timeout factor below 1", "[worker]\ntimeout_factor = 0.5", "t.toml:3: worker.timeout_factor: must be 0 (off) or between 1 and 1e+06, " +
			"found 0.5"},
		{"warm-up takes everything", "[generator]\nn = 100\nwarmup = 100",
			"t.toml:3: generator.n: must be above generator.warmup (100), found 100: n includes the warm-up"},
		{"unknown class of the worker", "[worker]\nclass = \"m510\"",
			`t.toml:3: worker.class: no class is called "m510": there are laptop, and auto`},
		{"nodes gone between heartbeats", "[worker]\nheartbeat = \"5s\"",
			"t.toml: datastore.node_timeout: must be above worker.heartbeat (5s), found 5s: every node would be gone between two heartbeats"},
		{"scaled real work", "[worker]\nexecutor = \"stress-ng\"\n[generator]\ntime_scale = 2",
			`t.toml:5: generator.time_scale: must be 1 where tasks do real work, found 2: ` +
				`worker.executor is "stress-ng"; set worker.executor = "sleep" to emulate`},
		{"scaled real type", "[generator]\ntime_scale = 2\n[[task_type]]\nname = \"x\"\nexecutor = \"stress-ng\"",
			`t.toml:3: generator.time_scale: must be 1 where tasks do real work, found 2: ` +
				`task_type.x has executor "stress-ng"; set worker.executor = "sleep" to emulate`},
		{"syntax", "[scheduler\nname = 1", "t.toml:2: expected '.' or ']' to end table name, but got '\\n' instead"},
		{"not UTF-8", "seed = 1 # \xff", "t.toml:2: invalid UTF-8 byte: 0xff"},
		{"word without quotes", "[worker]\nname = me", `t.toml:3: near key worker.name: expected value but found "me" instead`},
		{"too deep", "seed = " + strings.Repeat("[", 40), "t.toml:2: nests more than 32 deep"},
		{"unknown include", "include = [\"nope\"]",
			`t.toml:2: include[0]: nothing to include is called "nope": there is functionbench, functionbench-docker`},
		{"include a profile", "include = [\"paper\"]",
			`t.toml:2: include[0]: nothing to include is called "paper": there is functionbench, functionbench-docker`},
		{"include twice", "include = [\"functionbench\", \"functionbench\"]",
			`t.toml:2: include[1]: "functionbench" is included twice: first by include[0]`},
		{"include a string", "include = \"functionbench\"", `t.toml:2: include: must be a list of strings, found string "functionbench"`},
		{"type of the file and of an include", "include = [\"functionbench\"]\n[[task_type]]\nname = \"float_operation\"",
			`functionbench.toml:7: task_type.float_operation.name: "float_operation" is there already (first in t.toml:4)`},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.want)(loadText(laptop + c.text)) })
	}
}

func TestBadCatalog(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"no class", "", "t.toml: class: no workers: describe at least one [[class]] of nodes"},
		{"empty classes", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1\ncount = 0", "t.toml:1: class: no workers: every class has count 0"},
		{"too many workers", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1\ncount = 1000000\n[[class]]\nname = \"b\"\ncores = " +
			"1\nmemory_mb = 1", "t.toml:1: class: must be at most 1000000 workers in all, found 1000001"},
		{"classes in two notations", laptop + "[[class]]", "t.toml:2: Key 'class' was already created and cannot be used as an array."},
		{"duplicate class", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1\n[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1",
			`t.toml:6: class.a.name: "a" is there already (first in t.toml:2)`},
		{"no memory", "[[class]]\nname = \"a\"\ncores = 1", "t.toml:1: class.a.memory_mb: is missing: it has no default"},
		{"no name", "[[class]]\ncores = 1\nmemory_mb = 1", "t.toml:1: class[0].name: is missing: it has no default"},
		{"cores = 0", "[[class]]\nname = \"a\"\ncores = 0\nmemory_mb = 1", "t.toml:3: class.a.cores: must be between 0.001 and 1e+09, found 0"},
		{"less than a millicore", "[[class]]\nname = \"a\"\ncores = 1.0005\nmemory_mb = 1",
			"t.toml:3: class.a.cores: must be a multiple of 0.001, found 1.0005"},
		{"too much memory", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1099511627777",
			"t.toml:4: class.a.memory_mb: must be between 1 and 1099511627776, found 1099511627777"},
		{"NaN extra", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1\nextra = { gpu = nan }",
			"t.toml:5: class.a.extra.gpu: must be a finite number, found NaN"},
		{"extra of a standard name", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1\n[class.extra]\nmemory = 2",
			`t.toml:6: class.a.extra.memory: must not be called "memory": it has a key of its own`},
		{"too many extras", "[[class]]\nname = \"a\"\ncores = 1\nmemory_mb = 1\nextra = { a=1, b=1, c=1, d=1, e=1, f=1 }",
			"t.toml:1: class: must have at most 5 extra resources in all, found 6: a, b, c, d, e, f"},
		{"mode small", laptop + "[[task_type]]\nname = \"x\"\n[[task_type.mode]]\nname = \"small\"",
			`t.toml:5: task_type.x.mode.small.name: must be "short", found "small": the two are one mode`},
		{"duplicate mode", laptop + "[[task_type]]\nname = \"x\"\nmode = [{ name = \"a\" },\n { name = \"a\" }]",
			`t.toml:5: task_type.x.mode.a.name: "a" is there already (first in t.toml:4)`},
		{"duplicate profile", laptop + "[[task_type]]\nname = \"x\"\n[[task_type.mode]]\nname = \"a\"\nprofile = [{ class = \"c\", cores = 1, " +
			"duration = \"1s\" },\n { class = \"c\", cores = 1, duration = \"1s\" }]",
			`t.toml:7: task_type.x.mode.a.profile.c.class: "c" is there already (first in t.toml:6)`},
		{"cores without a duration", laptop + "[[task_type]]\nname = \"x\"\n[[task_type.mode]]\nname = \"a\"\ncores = 1",
			"t.toml:4: task_type.x.mode.a.duration: is missing: it has no default"},
		{"profile without cores", laptop + "[[task_type]]\nname = \"x\"\n[[task_type.mode]]\nname = \"a\"\n[[task_type.mode.profile]]\nclass = " +
			"\"c\"\nduration = \"1s\"", "t.toml:6: task_type.x.mode.a.profile.c.cores: is missing: it has no default"},
		{"fraction of a millisecond", laptop + "[[task_type]]\nname = \"x\"\n[[task_type.mode]]\nname = \"a\"\ncores = 1\nduration = \"1.0005s\"",
			"t.toml:7: task_type.x.mode.a.duration: must be a whole number of milliseconds, found 1.0005s"},
		{"zero byte", laptop + "[[task_type]]\nname = \"x\"\nargv = [\"a\\u0000b\"]",
			`t.toml:4: task_type.x.argv[0]: must not hold a zero byte, found "a\x00b"`},
		{"unknown key in a profile", laptop + "[[task_type]]\nname = \"x\"\n[[task_type.mode]]\nname = \"a\"\nprofile = [\n { class = \"c\", " +
			"core = 1 },\n]", "t.toml:7: task_type.x.mode.a.profile.c.core: unknown key: did you mean cores?\nt.toml:7: " +
			"task_type.x.mode.a.profile.c.cores: is missing: it has no default\nt.toml:7: task_type.x.mode.a.profile.c.duration: is missing: it " +
			"has no default"},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.want)(loadText(c.text)) })
	}
}

func wantError(t *testing.T, want string) func(*Config, error) {
	return func(c *Config, err error) {
		t.Helper()
		if err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
		if c != nil && err != nil {
			t.Error("a refused configuration is returned all the same")
		}
	}
}

// All problems are reported at once, in the order of the texts.
func TestEveryProblemIsReported(t *testing.T) {
	text := laptop + `
[datastore]
b = 0
[score]
alpha = 2
beta = "one"
[scheduler]
b_detla = 1
policy = "magic"
include = 3
[prequal]
latency = "mean"`
	_, err := loadText(text, "rpc.max_batch=0", "log.level=loud", "docker.host=ssh://somewhere")
	want := []Problem{
		{"t.toml:4", "datastore.b", "must be between 1 and 100000000, found 0"},
		{"t.toml:6", "score.alpha", "must be between 0 and 1, found 2"},
		{"t.toml:7", "score.beta", `must be a number, found string "one"`},
		{"t.toml:9", "scheduler.b_detla", "unknown key: did you mean b_delta?"},
		{"t.toml:10", "scheduler.policy", (&scheduler.Range{Words: append(baselines.Names(), "oracle")}).Problem("magic")},
		{"t.toml:13", "prequal.latency", `must be "history" or "pending", found "mean"`},
		{"-set rpc.max_batch=0", "rpc.max_batch", "must be between 1 and 65536, found 0"},
		{"-set log.level=loud", "log.level", `must be "debug", "info", "warn" or "error", found "loud"`},
		{"-set docker.host=ssh://somewhere", "docker.host",
			`must be the address of an engine, like unix:///run/docker.sock or tcp://host:2376, found "ssh://somewhere"`},
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		t.Fatalf("%v does not join problems", err)
	}
	var got []Problem
	for _, e := range joined.Unwrap() {
		var p Problem
		if errors.As(e, &p) && p.Key != "scheduler.include" {
			got = append(got, p)
		}
	}
	if len(got) != len(want) {
		t.Fatalf("got %d problems:\n%v", len(got), err)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("problem %d is %q, want %q", i, got[i], want[i])
		}
	}
}

func TestFilesOnDisk(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	write("types.toml", "[[task_type]]\nname = \"mine\"\n[[task_type]]\nname = \"yours\"\nexecutor = \"x\"\n")
	write("ok.toml", "[[task_type]]\nname = \"mine\"\n")
	write("more.toml", "include = [\"ok.toml\"]\n[worker]\nname = \"x\"\n")
	write("empty.toml", "")
	write("broken.toml", "a = 1\na = 2")

	c, err := Load(write("main.toml", laptop+"include = [\"ok.toml\", \"functionbench\"]\n[[task_type]]\nname = \"own\""), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Types) != 10 || c.Types[0].Name != "own" || c.Types[1].Name != "mine" || c.Types[2].Name != "float_operation" {
		t.Errorf("included types are %v", c.Types)
	}
	for _, bad := range []struct{ include, want string }{
		{"types.toml", filepath.Join(dir, "types.toml") +
			`:5: task_type.yours.executor: must be "sleep", "stress-ng", "docker" or "process", found "x"`},
		{"more.toml", filepath.Join(dir, "more.toml") + ":1: include: a file of task types may hold only [[task_type]] tables"},
		{"more.toml", filepath.Join(dir, "more.toml") + ":2: worker: a file of task types may hold only [[task_type]] tables"},
		{"empty.toml", ":2: include[0]: " + filepath.Join(dir, "empty.toml") + " holds no [[task_type]] tables"},
		{"broken.toml", filepath.Join(dir, "broken.toml") + ":2: a is set twice: first on line 1"},
		{"absent.toml", ":2: include[0]: open " + filepath.Join(dir, "absent.toml")},
	} {
		_, err := Load(write("main.toml", laptop+"include = [\""+bad.include+"\"]"), nil)
		if err == nil || !strings.Contains(err.Error(), bad.want) {
			t.Errorf("include %s: got %v, want %s", bad.include, err, bad.want)
		}
	}
	_, err = Load(write("huge.toml", strings.Repeat("#\n", maxFileBytes)), nil)
	wantError(t, filepath.Join(dir, "huge.toml")+": more than 1048576 bytes: not a configuration")(nil, err)
}

func TestWhatLoadFinds(t *testing.T) {
	shipped := "shipped profiles are cluster-example, docker, dodoor+lean, local, paper, paper-as-run, production, single"
	for _, c := range []struct{ name, want string }{
		{"papr", `no profile is called "papr": ` + shipped + "; a file needs a / or .toml in its name"},
		{"", `no profile is called "": ` + shipped + "; a file needs a / or .toml in its name"},
		{"functionbench", `no profile is called "functionbench": ` + shipped + "; a file needs a / or .toml in its name"},
		{"absent/paper.toml", "read configuration: open absent/paper.toml: no such file or directory (" + shipped + ")"},
		{"../conf", "read configuration: read ../conf: is a directory (" + shipped + ")"},
	} {
		wantError(t, c.want)(Load(c.name, nil))
	}
}

// What is made of one reading is as if it had been read alone: nothing that one has, another sees.
func TestManyOfOneReading(t *testing.T) {
	base, err := Read("paper")
	if err != nil {
		t.Fatal(err)
	}
	for _, sets := range [][]string{
		{"class.m510.count=3", "prequal.pool=7", `sim.fault=[{what="datastore", at="1s"}]`, "task_type.linpack.mode.short.profile.m510.cores=2"},
		{"seed=2", "class.m510.count=nothing", "score.alpha=7"},
		nil,
	} {
		got, gotErr := base.With(sets)
		want, wantErr := Load("paper", sets)
		if !reflect.DeepEqual(got, want) || fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("%v: got %+v, %v; want %+v, %v", sets, got, gotErr, want, wantErr)
		}
	}
}
