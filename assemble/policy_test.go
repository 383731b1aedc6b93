package assemble

import (
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/baselines"
	"dodoor/conf"
	"dodoor/sim"
	"dodoor/worker/executor"
	"dodoor/worker/workerd"
)

// What a configuration may hold is checked as it is read: nothing that it accepts is refused by a policy
// or an executor later.
func TestNothingIsRefusedLater(t *testing.T) {
	base, err := conf.Load("single", nil)
	if err != nil {
		t.Fatal(err)
	}
	builds := func(t interface{ Fatal(...any) }, c *conf.Config) {
		for _, c.Scheduler.Policy = range append(baselines.Names(), sim.Oracle, c.Scheduler.Policy) {
			if err := CheckPolicy(c, true); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range Executors(c) {
			e, err := newExecutor(name, c, nil)
			if err != nil {
				t.Fatal(err)
			}
			if err := workerd.CloseExecutors(map[string]executor.Executor{name: e}); err != nil {
				t.Fatal(err)
			}
		}
	}
	builds(t, base)
	rapid.Check(t, func(t *rapid.T) {
		if c := anySettings(t, *base); c.Validate() == nil { // about every fourth
			builds(t, c)
		}
	})
}

// anySettings draws what policies and executors read: values at the edges of what is allowed, but for one
// setting at most.
func anySettings(t *rapid.T, c conf.Config) *conf.Config {
	const settings = 24
	d := &settingsDraw{t: t}
	if rapid.Bool().Draw(t, "one is odd") {
		d.odd = rapid.IntRange(1, settings).Draw(t, "odd setting")
	}
	number := func(usual ...float64) float64 {
		return pick(d, usual, []float64{math.NaN(), -1, math.Inf(1), math.Nextafter(0, -1), 1e9})
	}
	period := func() time.Duration {
		return pick(d, []time.Duration{time.Millisecond, time.Hour}, []time.Duration{0, 1})
	}
	c.Worker.Executor = pick(d, []string{"sleep", "stress-ng", "docker", "process"}, []string{"podman"})
	c.Generator.TimeScale = 1
	if c.Worker.Executor == "sleep" {
		c.Generator.TimeScale = number(1, 1e6)
	}
	c.Scheduler.Policy = pick(d, append(baselines.Names(), sim.Oracle), []string{"", "magic", "Dodoor"})
	c.Policies = baselines.Defaults()
	for _, knobs := range c.Policies {
		for _, k := range knobs.Table().Knobs {
			low, whole := k.Range.Low, int(k.Range.Low)
			if k.Range.Above {
				low, whole = math.Nextafter(low, k.Range.High), whole+1
			}
			switch value := k.Value.(type) {
			case *bool:
				*value = rapid.Bool().Draw(t, k.Key)
			case *string:
				*value = pick(d, k.Range.Words, []string{"", "magic"})
			case *int:
				*value = pick(d, []int{whole, int(k.Range.High)}, []int{-1, int(k.Range.High) + 1})
			case *float64:
				*value = number(low, k.Range.High)
			case *time.Duration:
				*value = period()
			}
		}
	}
	c.Docker.Host = pick(d, []string{"", "unix:///run/docker.sock", "tcp://h:2376"}, []string{"h", "ssh://h", "fd://3", "tcp://[::1"})
	c.Process.Cgroup = pick(d, []string{"auto", "required", "off"}, []string{"", "on"})
	c.Process.Allow = pick(d, [][]string{nil, {"/bin/true"}}, [][]string{{"true"}})
	return &c
}

type settingsDraw struct {
	t      *rapid.T
	n, odd int // settings drawn, and the one that gets an odd value; 0: none
}

// pick draws one of the usual values or, where it is the setting's turn, an odd one.
func pick[T any](d *settingsDraw, usual, odd []T) T {
	if d.n++; d.n == d.odd {
		usual = odd
	}
	return rapid.SampledFrom(usual).Draw(d.t, "setting")
}
