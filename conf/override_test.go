package conf

import (
	"reflect"
	"testing"
	"time"
)

func TestOverrides(t *testing.T) {
	c, err := Load("local", []string{
		"seed=7", "scheduler.policy=random", "scheduler.policy=dodoor+", "scheduler.max_staleness=1s",
		"score.alpha=0", `worker.name="w-2"`, "worker.listen=127.0.0.1:0", `worker.class=""`, "generator.out=o#1",
		"generator.schedulers=['h:1', 'h:2']", "class.m510.count=10", "class.c6525-25g.extra.gpu=2",
		"class.c6525-25g.extra.fpga=1", "class.xl170.extra={gpu=1}", "task_type.linpack.mode.short.profile.m510.duration=1s",
		"rpc={coalesce=false, max_batch=3}",
	})
	if err != nil {
		t.Fatal(err)
	}
	m510, _ := c.Class("m510")
	xl170, _ := c.Class("xl170")
	c6525, _ := c.Class("c6525-25g")
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"seed", c.Seed, uint64(7)},
		{"the last of two", c.Scheduler.Policy, "dodoor+"},
		{"duration as a bare word", time.Duration(c.Scheduler.MaxStaleness), time.Second},
		{"integer for a number", scoreOf(c).Alpha, 0.0},
		{"quoted string", c.Worker.Name, "w-2"},
		{"address as a bare word", c.Worker.Listen, "127.0.0.1:0"},
		{"bare word with a #", c.Generator.Out, "o#1"},
		{"list", c.Generator.Schedulers, []string{"h:1", "h:2"}},
		{"class by name", m510.Count, 10},
		{"extra, one by one", c6525.Extra, map[string]float64{"gpu": 2, "fpga": 1}},
		{"extra as a table", xl170.Extra, map[string]float64{"gpu": 1}},
		{"part of a table", c.RPC.MaxBatch, 3},
		{"rest of a table", c.RPC.MaxConnections, 16384},
		{"profile by class", typeNamed(t, c, "linpack").Modes[0].Profiles[0].Duration, Duration(time.Second)},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s: got %v, want %v", check.what, check.got, check.want)
		}
	}
}

func typeNamed(t *testing.T, c *Config, name string) TaskType {
	t.Helper()
	for _, have := range c.Types {
		if have.Name == name {
			return have
		}
	}
	t.Fatalf("no task type %s", name)
	return TaskType{}
}

func TestBadOverrides(t *testing.T) {
	for _, c := range []struct{ set, want string }{
		{"scheduler.b_delta=0", "-set scheduler.b_delta=0: must be between 1 and 100000000, found 0"},
		{"scheduler.b_detla=1", "-set scheduler.b_detla=1: unknown key: did you mean b_delta?"},
		{"Scheduler.b_delta=1", "-set Scheduler.b_delta=1: unknown key: upper and lower case differ, did you mean scheduler?"},
		{"scheduler.b_delta", "-set scheduler.b_delta: must have the form section.key=value"},
		{"=1", "-set =1: must have the form section.key=value"},
		{"", "-set : must have the form section.key=value"},
		{"worker.class=", `-set worker.class=: no value: write "" for an empty string`},
		{"rpc.call_timeout=5",
			`-set rpc.call_timeout=5: must be a duration such as "250ms", "1.5s" or "10m", found integer 5 (a bare number has no unit)`},
		{"datastore.b=many", `-set datastore.b=many: must be an integer, found string "many"`},
		{"score.alpha=nan", "-set score.alpha=nan: must be a finite number, found NaN"},
		{"worker.name='open", `-set worker.name='open: not a TOML value: unexpected EOF; expected "'"`},
		{"generator.n=1\nseed=2", `-set "generator.n=1\nseed=2": must be one value: repeat -set for further keys`},
		{"scheduler.policy=a\x00b", `-set "scheduler.policy=a\x00b": not a TOML value: TOML files cannot contain control characters: '0x00'`},
		{"class.m511.count=1", `-set class.m511.count=1: no class is called "m511": there are laptop`},
		{"class.laptop.cout=1", "-set class.laptop.cout=1: unknown key: did you mean count?"},
		{"class.laptop.count=-1", "-set class.laptop.count=-1: must be between 0 and 1000000, found -1"},
		{"class.laptop.extra.gpu=-1", "-set class.laptop.extra.gpu=-1: must be between 0 and 1e+09, found -1"},
		{"class.laptop.extra.gpu.x=1", "-set class.laptop.extra.gpu.x=1: class.laptop.extra holds no further keys"},
		{"generator.schedulers.x=1", "-set generator.schedulers.x=1: generator.schedulers holds no further keys"},
		{"seed.x=1", "-set seed.x=1: seed holds no further keys"},
		{"class=[]", "-set class=[]: no workers: describe at least one [[class]] of nodes"},
		{"class=[{name='a', cores=1}]", "-set class=[{name='a', cores=1}]: class.a.memory_mb: must be between 1 and 1099511627776, found 0"},
		{"include=['functionbench']", "-set include=['functionbench']: unknown key: allowed here are seed, scheduler, datastore, worker, rpc, " +
			"score, dodoor_plus, prequal, yarp, ect, docker, process, generator, sim, http, security, log, cluster, host, class, task_type"},
	} {
		_, err := loadText(laptop, c.set)
		wantError(t, c.want)(nil, err)
	}
}

// A later override hides what it replaces, and a problem of the file stays the file's.
func TestOverrideAfterTheFile(t *testing.T) {
	if _, err := loadText(laptop+"[datastore]\nb = 0", "datastore.b=5"); err != nil {
		t.Errorf("the value overridden is refused: %v", err)
	}
	_, err := loadText(laptop+"[datastore]\nb = \"x\"", "datastore.b=5")
	wantError(t, `t.toml:3: datastore.b: must be an integer, found string "x"`)(nil, err)
}
