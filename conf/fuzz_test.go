package conf

import (
	"reflect"
	"strings"
	"testing"
)

// FuzzLoad: whatever the text and the override, Load returns; what it accepts prints and loads
// again to the same, and what it refuses it refuses with a place.
func FuzzLoad(f *testing.F) {
	for _, name := range Profiles() {
		text, err := profiles.ReadFile(name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), "scheduler.b_delta=4")
	}
	f.Add(laptop+"class = 1\n[class]\n[[class]]", "class.laptop.count=2")
	f.Add(laptop+"[[task_type]]\nname = 'x'\nmode = [{name='m', cores=1, duration='1s', extra={gpu=.5}}]", "task_type.x.mode.m.cores=nan")
	f.Add("[[class]]\nname = 'a'\ncores = 0.5\nmemory_mb = 1\n[class.extra]\n'g.p' = 1", "class.a.extra.gpu=1")
	f.Add(laptop+"include = ['functionbench']", "generator.schedulers=['h:1']")
	f.Add(laptop+"[sim]\ndelay='1µs'\nquirks=['prototype-duration-drift']\n[[sim.fault]]\nwhat='worker'\nname='laptop-1'\nuntil='1s'",
		"sim.delay=50us")
	f.Add(laptop+"[sim]\nfault=[{what='class', name='laptop'}, {what='datastore', at='1us'}]", "sim.fault.class.at=1s")
	f.Add(laptop+"[[sim.fault]]\nwhat='scheduler'\nname='scheduler-9'", "sim.fault=[{what='scheduler', name='scheduler-1'}]")
	f.Add(gpuClasses+"[worker.devices.gpu]\nids = ['0', '1']", "worker.devices.gpu.docker=x")
	f.Add("\r", "seed=1")         // the library places this error before the text
	f.Add("a = 0x\n b", "seed=1") // the library quotes the line break
	f.Fuzz(func(t *testing.T, text, set string) {
		c, err := load(source{"f.toml", []byte(text)}, openEmbedded, []string{set})
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "f.toml") && !strings.HasPrefix(line, "-set ") && !strings.HasPrefix(line, "functionbench.toml:") {
					t.Fatalf("no place in %q", line)
				}
			}
			return
		}
		c.Warnings()
		c.TaskTypes()
		if again := reload(t, c); !reflect.DeepEqual(again, c) {
			t.Fatalf("loaded\n%+v\nwant\n%+v", again, c)
		}
	})
}

// FuzzTypes: the same for task types in a file of their own, in the place of others.
func FuzzTypes(f *testing.F) {
	for _, name := range embedded(catalogs) {
		text, err := catalogs.ReadFile(name + ".toml")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("task_type = [{ name = 'a' }, { name = 'a' }, 3]")
	f.Add("[task_type]\n[[task_type]]")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := withTypes(threeTypes, text)
		if err != nil {
			for line := range strings.Lines(err.Error()) {
				if !strings.HasPrefix(line, "x.toml") && !strings.HasPrefix(line, "t.toml: class: must have at most") {
					t.Fatalf("no place in %q", line)
				}
			}
			return
		}
		if again := reload(t, c); !reflect.DeepEqual(again, c) {
			t.Fatalf("loaded\n%+v\nwant\n%+v", again, c)
		}
	})
}
