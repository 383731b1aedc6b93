package conf

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/baselines"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

// reload prints c and loads it again.
func reload(t interface{ Fatalf(string, ...any) }, c *Config) *Config {
	text, err := c.Marshal()
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	again, err := load(source{"again.toml", text}, openEmbedded, nil)
	if err != nil {
		t.Fatalf("%v\nin\n%s", err, text)
	}
	return again
}

func TestMarshalWritesEveryDefault(t *testing.T) {
	c, err := loadText(laptop, "sim.fault=[{what='datastore'}]",
		"host=[{name='a', address='a', class='laptop', roles=['datastore', 'scheduler', 'worker'], devices={gpu={}}}]",
		"class.laptop.extra.gpu=1", "worker.devices.gpu.ids=['7']")
	if err != nil {
		t.Fatal(err)
	}
	text, err := c.Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range settingPaths(reflect.ValueOf(Default()).Elem(), "") {
		section, key := "", path
		if dot := strings.LastIndexByte(path, '.'); dot >= 0 {
			section, key = path[:dot], path[dot+1:]
		}
		if strings.HasPrefix(section, "task_type") || strings.HasSuffix(key, "extra") {
			continue // the text has neither
		}
		if !strings.Contains(string(text), "\n"+key+" = ") && !strings.HasPrefix(string(text), key+" = ") {
			t.Errorf("%s is not printed", path)
		}
	}
}

// A printed configuration loads to an equal one.
func TestMarshalRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := anyConfig().Draw(t, "config")
		if err := c.Validate(); err != nil {
			t.Fatalf("drew an invalid configuration: %v", err)
		}
		if again := reload(t, c); !reflect.DeepEqual(again, c) {
			t.Fatalf("loaded\n%+v\nwant\n%+v", again, c)
		}
	})
}

// anyConfig draws valid configurations.
func anyConfig() *rapid.Generator[*Config] {
	names := rapid.StringMatching(`[A-Za-z0-9._-]{1,12}`)
	return rapid.Custom(func(t *rapid.T) *Config {
		c := Default()
		c.Seed = rapid.Uint64Max(1<<63-1).Draw(t, "seed")
		c.Scheduler.Policy = rapid.SampledFrom(baselines.Names()).Draw(t, "policy")
		c.Scheduler.BDelta = rapid.IntRange(1, manyTasks).Draw(t, "b_delta")
		c.Scheduler.MaxStaleness = Duration(rapid.Int64Range(int64(time.Millisecond), int64(time.Hour)).Draw(t, "staleness"))
		c.Scheduler.SelfCorrection = rapid.Bool().Draw(t, "self")
		scoreOf(c).Alpha = rapid.Float64Range(0, 1).Draw(t, "alpha")
		c.Generator.QPS = rapid.Float64Range(1e-9, 1e6).Draw(t, "qps")
		c.Generator.Out = rapid.StringN(1, 20, -1).Draw(t, "out")
		c.Generator.Schedulers = rapid.SliceOfNDistinct(rapid.StringMatching(`h[a-z]{0,3}:[1-9][0-9]{0,3}`), 1, 3, rapid.ID).Draw(t, "schedulers")
		if rapid.Bool().Draw(t, "no schedulers") {
			c.Generator.Schedulers = nil
		}
		for _, name := range rapid.SliceOfNDistinct(names, 1, 4, rapid.ID).Draw(t, "classes") {
			c.Classes = append(c.Classes, Class{
				Name: name, Cores: thousandth(t, 1), MemoryMB: rapid.Int64Range(1, cluster.MaxAmount).Draw(t, "memory"),
				Count: rapid.IntRange(1, 100).Draw(t, "count"), Extra: anyExtra(t),
			})
		}
		if rapid.Bool().Draw(t, "hosts") {
			c.Hosts = anyHosts(t, c)
		}
		c.Sim = anySim(t, c)
		anyDevices(t, c)
		for _, name := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "types") {
			c.Types = append(c.Types, anyType(t, name, names))
		}
		if len(c.Hosts) > 0 { // something must fit everywhere
			c.Types = append(c.Types, TaskType{Name: "a.type.without.figures", Executor: sleepExecutor})
		}
		return c
	})
}

// anyDevices draws some for classes that have them.
func anyDevices(t *rapid.T, c *Config) {
	draw := func() *Devices {
		return &Devices{Variable: rapid.SampledFrom([]string{"", "X", "_Y2"}).Draw(t, "variable"),
			Docker: rapid.SampledFrom([]string{"", "nvidia"}).Draw(t, "driver")}
	}
	name := rapid.SampledFrom([]string{"gpu", "fp.ga"}).Draw(t, "device")
	for i := range c.Classes {
		if delete(c.Classes[i].Extra, name); len(c.Classes[i].Extra) == 0 {
			c.Classes[i].Extra = nil
		}
	}
	c.Classes[0].Extra = map[string]float64{name: 2}
	if c.Worker.Devices = map[string]*Devices{name: draw()}; rapid.Bool().Draw(t, "ids") {
		c.Worker.Devices[name].IDs = []string{"x", "GPU-1/2:3"}
	}
	if c.Worker.Class = ""; len(c.Hosts) > 0 {
		c.Worker.Devices[name].IDs = nil
	}
	for i := range c.Hosts {
		if h := &c.Hosts[i]; h.Class == c.Classes[0].Name {
			h.Devices = map[string]*Devices{name: draw()}
			if rapid.Bool().Draw(t, "ids") {
				h.Devices[name].IDs = []string{"1", "0"}
			}
		}
	}
}

func anySim(t *rapid.T, c *Config) Sim {
	message := rapid.Int64Range(0, int64(slowestMessage))
	all := Sim{
		Delay: Duration(message.Draw(t, "delay")), SchedulerCost: Duration(message.Draw(t, "scheduler cost")),
		DatastoreCost: Duration(message.Draw(t, "datastore cost")), WorkerCost: Duration(message.Draw(t, "worker cost")),
		Interference: rapid.Float64Range(0, 10).Draw(t, "interference"), Skew: rapid.Float64Range(0, 1).Draw(t, "skew"),
		Change: Change{From: rapid.Float64Range(0, 1).Draw(t, "from"), Factor: rapid.Float64Range(0.001, 1000).Draw(t, "factor")},
	}
	if rapid.Bool().Draw(t, "drift") {
		all.Quirks = []string{sim.DurationDrift}
	}
	for range rapid.IntRange(0, 3).Draw(t, "faults") {
		class := rapid.SampledFrom(c.Classes).Draw(t, "fault's class").Name
		f := rapid.SampledFrom([]Fault{{What: sim.FaultWorker, Name: class + "-1"}, {What: sim.FaultClass, Name: class},
			{What: sim.FaultScheduler, Name: "scheduler-3"}, {What: sim.FaultDatastore}}).Draw(t, "fault")
		f.At = Duration(rapid.Int64Range(0, int64(cluster.LongestDuration)-1).Draw(t, "at"))
		if rapid.Bool().Draw(t, "comes back") {
			f.Until = Duration(rapid.Int64Range(int64(f.At)+1, int64(cluster.LongestDuration)).Draw(t, "until"))
		}
		all.Faults = append(all.Faults, f)
	}
	return all
}

func anyType(t *rapid.T, name string, names *rapid.Generator[string]) TaskType {
	out := TaskType{Name: name, Executor: rapid.SampledFrom([]string{sleepExecutor, stressNGExecutor}).Draw(t, "executor")}
	if rapid.Bool().Draw(t, "argv") {
		out.Argv = []string{rapid.StringN(0, 8, -1).Filter(func(s string) bool { return !strings.Contains(s, "\x00") }).Draw(t, "arg")}
	}
	modes := names.Filter(func(s string) bool { return cluster.CanonicalMode(s) == s })
	for _, mode := range rapid.SliceOfNDistinct(modes, 0, 3, rapid.ID).Draw(t, "modes") {
		m := Mode{Name: mode}
		if rapid.Bool().Draw(t, "default shape") {
			m.Shape = anyShape(t)
		}
		for _, class := range rapid.SliceOfNDistinct(names, 0, 3, rapid.ID).Draw(t, "profiles") {
			m.Profiles = append(m.Profiles, Profile{Class: class, Shape: anyShape(t)})
		}
		out.Modes = append(out.Modes, m)
	}
	return out
}

func anyShape(t *rapid.T) Shape {
	return Shape{
		Cores:    thousandth(t, 1),
		MemoryMB: rapid.Int64Range(0, cluster.MaxAmount).Draw(t, "memory"),
		Duration: Duration(rapid.Int64Range(1, cluster.MaxDuration).Draw(t, "ms")) * Duration(time.Millisecond),
		Extra:    demanded(anyExtra(t)),
	}
}

// demanded makes amounts whole that could split devices.
func demanded(extra map[string]float64) map[string]float64 {
	for name, amount := range extra {
		if amount > 1 {
			extra[name] = math.Floor(amount)
		}
	}
	return extra
}

func anyExtra(t *rapid.T) map[string]float64 {
	if rapid.Bool().Draw(t, "no extra") {
		return nil
	}
	return map[string]float64{rapid.SampledFrom([]string{"gpu", "fp.ga", "a-b"}).Draw(t, "extra"): thousandth(t, 0)}
}

func thousandth(t *rapid.T, low int64) float64 {
	return float64(rapid.Int64Range(low, mostCores*1000).Draw(t, "thousandths")) / 1000
}
