package conf

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"dodoor/sim"
)

// A small cluster of two classes, one with a dash in its name, on one line.
const pair = `class = [{ name = "a", cores = 1, memory_mb = 1, count = 3 }, { name = "a-1", cores = 1, memory_mb = 1 }]` + "\n"

func TestSim(t *testing.T) {
	c, err := loadText(pair + `
[sim]
delay = "1.5us"
scheduler_cost = "250µs"
worker_cost = "0s"
interference = 0.35
skew = 1
quirks = ["prototype-duration-drift"]
change = { from = 0.25, factor = 2 }
[[sim.fault]]
what = "worker"
name = "a-1-1"
at = "1500us"
[[sim.fault]]
what = "class"
name = "a-1"
at = "10s"
until = "20s"
[[sim.fault]]
what = "scheduler"
name = "scheduler-5"
[[sim.fault]]
what = "datastore"
until = "1s"`)
	if err != nil {
		t.Fatal(err)
	}
	want := Sim{
		Delay: 1500, SchedulerCost: Duration(250 * time.Microsecond), DatastoreCost: Duration(200 * time.Microsecond),
		Interference: 0.35, Skew: 1, Quirks: []string{"prototype-duration-drift"},
		Change: Change{From: 0.25, Factor: 2},
		Faults: []Fault{
			{What: "worker", Name: "a-1-1", At: Duration(1500 * time.Microsecond)},
			{What: "class", Name: "a-1", At: Duration(10 * time.Second), Until: Duration(20 * time.Second)},
			{What: "scheduler", Name: "scheduler-5"},
			{What: "datastore", Until: Duration(time.Second)},
		},
	}
	if !reflect.DeepEqual(c.Sim, want) {
		t.Errorf("got %+v, want %+v", c.Sim, want)
	}
	if again := reload(t, c); !reflect.DeepEqual(again, c) {
		t.Errorf("printed and loaded again: %+v", again.Sim)
	}
}

func TestBadSim(t *testing.T) {
	const names = "a-1 to a-3, a-1-1"
	for _, c := range []struct{ name, text, want string }{
		{"negative delay", `delay = "-1us"`, "t.toml:3: sim.delay: must be between 0s and 1m0s, found -1µs"},
		{"endless cost", `scheduler_cost = "61s"`, "t.toml:3: sim.scheduler_cost: must be between 0s and 1m0s, found 1m1s"},
		{"negative cost of the data service", `datastore_cost = "-1ns"`, "t.toml:3: sim.datastore_cost: must be between 0s and 1m0s, found -1ns"},
		{"negative cost of a worker", `worker_cost = "-1h"`, "t.toml:3: sim.worker_cost: must be between 0s and 1m0s, found -1h0m0s"},
		{"delay without a unit", "delay = 100",
			`t.toml:3: sim.delay: must be a duration such as "250ms", "1.5s" or "10m", found integer 100 (a bare number has no unit)`},
		{"NaN", "interference = nan", "t.toml:3: sim.interference: must be a finite number, found NaN"},
		{"too much interference", "interference = 10.5", "t.toml:3: sim.interference: must be between 0 and 10, found 10.5"},
		{"more than everything", "skew = 1.01", "t.toml:3: sim.skew: must be between 0 and 1, found 1.01"},
		{"unknown quirk", `quirks = ["drift"]`,
			`t.toml:3: sim.quirks[0]: must be "prototype-duration-drift" or "prototype-truncated-gaps", found "drift"`},
		{"quirk twice", "quirks = [\"prototype-duration-drift\",\n\"prototype-duration-drift\"]",
			`t.toml:4: sim.quirks[1]: "prototype-duration-drift" is there already (first in t.toml:3)`},
		{"a change after the end", "change.from = 1.5", "t.toml:3: sim.change.from: must be between 0 and 1, found 1.5"},
		{"no time at all", "change.factor = 0", "t.toml:3: sim.change.factor: must be between 0.001 and 1000, found 0"},
		{"whose time changes", "change.type = \"b\"", `t.toml:3: sim.change.type: no task type is called "b": there are none`},
		{"faults as a table", "[sim.fault]\nwhat = \"datastore\"", "t.toml:3: sim.fault: must be a list of tables, found a table"},
		{"nothing fails", "[[sim.fault]]\nat = \"1s\"", "t.toml:3: sim.fault[0].what: is missing: it has no default"},
		{"something else fails", "fault = [{ what = \"network\" }]",
			`t.toml:3: sim.fault[0].what: must be "worker", "class", "scheduler" or "datastore", found "network"`},
		{"unknown key", "[[sim.fault]]\nwhat = \"datastore\"\n[[sim.fault]]\nwhat = \"datastore\"\nutil = \"1s\"",
			"t.toml:7: sim.fault[1].util: unknown key: did you mean until?"},
		{"before the start", "[[sim.fault]]\nwhat = \"datastore\"\nat = \"-1ms\"",
			"t.toml:5: sim.fault[0].at: must be between 0s and 8760h0m0s, found -1ms"},
		{"back before it is gone", "[[sim.fault]]\nwhat = \"datastore\"\nat = \"2s\"\nuntil = \"1s\"",
			"t.toml:6: sim.fault[0].until: must be 0s (never) or above at (2s) and at most 8760h0m0s, found 1s"},
		{"back at once", "[[sim.fault]]\nwhat = \"datastore\"\nat = \"2s\"\nuntil = \"2s\"",
			"t.toml:6: sim.fault[0].until: must be 0s (never) or above at (2s) and at most 8760h0m0s, found 2s"},
		{"back after years", "[[sim.fault]]\nwhat = \"datastore\"\nuntil = \"8761h\"",
			"t.toml:5: sim.fault[0].until: must be 0s (never) or above at (0s) and at most 8760h0m0s, found 8761h0m0s"},
		{"a data service with a name", "[[sim.fault]]\nwhat = \"datastore\"\nname = \"one\"",
			`t.toml:5: sim.fault[0].name: must be empty for the datastore, found "one": there is only one`},
		{"a class without a name", "[[sim.fault]]\nwhat = \"class\"", `t.toml:3: sim.fault[0].name: no class is called "": there are a, a-1`},
		{"unknown class", "[[sim.fault]]\nwhat = \"class\"\nname = \"b\"",
			`t.toml:5: sim.fault[0].name: no class is called "b": there are a, a-1`},
		{"worker beyond the count", "[[sim.fault]]\nwhat = \"worker\"\nname = \"a-4\"",
			`t.toml:5: sim.fault[0].name: no worker is called "a-4": there are ` + names},
		{"worker 0", "[[sim.fault]]\nwhat = \"worker\"\nname = \"a-0\"", `t.toml:5: sim.fault[0].name: no worker is called "a-0": there are ` +
			names},
		{"worker 01", "[[sim.fault]]\nwhat = \"worker\"\nname = \"a-01\"",
			`t.toml:5: sim.fault[0].name: no worker is called "a-01": there are ` + names},
		{"worker without a number", "[[sim.fault]]\nwhat = \"worker\"\nname = \"a\"",
			`t.toml:5: sim.fault[0].name: no worker is called "a": there are ` + names},
		{"worker of no class", "[[sim.fault]]\nwhat = \"worker\"\nname = \"-1\"",
			`t.toml:5: sim.fault[0].name: no worker is called "-1": there are ` + names},
		{"unknown scheduler", "[[sim.fault]]\nwhat = \"scheduler\"\nname = \"scheduler-6\"",
			`t.toml:5: sim.fault[0].name: no scheduler is called "scheduler-6": there are scheduler-1 to scheduler-5`},
		{"faults under the oracle", "[[sim.fault]]\nwhat = \"datastore\"\n[scheduler]\npolicy = \"oracle\"",
			`t.toml:3: sim.fault: must be left out with policy "oracle": it knows what was placed, not what will fail`},
		{"a scheduler without a name", "[[sim.fault]]\nwhat = \"scheduler\"",
			`t.toml:3: sim.fault[0].name: no scheduler is called "": there are scheduler-1 to scheduler-5`},
	} {
		t.Run(c.name, func(t *testing.T) { wantError(t, c.want)(loadText(pair + "[sim]\n" + c.text)) })
	}
}

func TestSimOverrides(t *testing.T) {
	text := pair + "[sim]\nquirks = [\"prototype-duration-drift\"]\n[[sim.fault]]\nwhat = \"worker\"\nname = \"a-2\"\n"
	c, err := loadText(text, "sim.delay=50us", "sim.worker_cost=1.5µs", "sim.quirks=[]", "sim.fault=[{what='class', name='a', at='1s'}]")
	if err != nil {
		t.Fatal(err)
	}
	want := Default().Sim
	want.Delay, want.WorkerCost = Duration(50*time.Microsecond), 1500
	want.Faults = []Fault{{What: sim.FaultClass, Name: "a", At: Duration(time.Second)}}
	if !reflect.DeepEqual(c.Sim, want) {
		t.Errorf("got %+v, want %+v", c.Sim, want)
	}
	for _, c := range []struct{ set, want string }{
		{"sim.delay=-1us", "-set sim.delay=-1us: must be between 0s and 1m0s, found -1µs"},
		{"sim.fault.worker.at=1s", "-set sim.fault.worker.at=1s: elements of sim.fault have no names: replace the whole list, sim.fault=[{...}]"},
		{"sim.fault.0.at=1s", "-set sim.fault.0.at=1s: elements of sim.fault have no names: replace the whole list, sim.fault=[{...}]"},
		{"sim.fault=worker", `-set sim.fault=worker: must be a list of tables, found string "worker"`},
		{"sim.fault=[{what='class', name='b'}]",
			`-set sim.fault=[{what='class', name='b'}]: sim.fault[0].name: no class is called "b": there are a, a-1`},
		{"class.a.count=1", `t.toml:6: sim.fault[0].name: no worker is called "a-2": there are a-1, a-1-1`},
	} {
		_, err := loadText(text, c.set)
		wantError(t, c.want)(nil, err)
	}
}

// A class whose nodes were all taken out leaves nothing to name, and the message stays whole.
func TestFaultsOfNothing(t *testing.T) {
	_, err := loadText(pair, "class.a.count=0", "sim.fault=[{what='worker', name='a-1'}]")
	if err == nil || !strings.HasSuffix(err.Error(), `no worker is called "a-1": there are a-1-1`) {
		t.Errorf("got %v", err)
	}
}
