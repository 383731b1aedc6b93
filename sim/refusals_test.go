package sim_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
	"dodoor/sim"
)

// What cannot be simulated is refused before anything happens, with the reason.
func TestImpossibleScenariosAreRefused(t *testing.T) {
	fault := func(what, name string, at, until time.Duration) func(*sim.Config) {
		return func(c *sim.Config) {
			c.Faults = []sim.Fault{{What: "worker", Name: "a-1", At: time.Second}, {What: what, Name: name, At: at, Until: until}}
		}
	}
	broken := func(f sim.Fault) func(*sim.Config) { return func(c *sim.Config) { c.Faults = []sim.Fault{f} } }
	for _, c := range []struct {
		name   string
		change func(*sim.Config)
		want   string
	}{
		{"no workers", func(c *sim.Config) { c.Nodes = nil }, "the cluster has no workers"},
		{"no schedulers", func(c *sim.Config) { c.Schedulers = 0 }, "0 schedulers: at least 1 is needed"},
		{"no tasks", func(c *sim.Config) { c.Workload = nil }, "there is nothing to replay"},
		{"empty messages", func(c *sim.Config) { c.MaxBatch = 0 }, "0 items per message"},
		{"no heartbeat", func(c *sim.Config) { c.Heartbeat = 0 }, "heartbeat = 0s: must be positive"},

		{"too many cores", func(c *sim.Config) { c.Workload = workload(t, 3, cluster.Resources{4001}) },
			"task 0 (type simulated) needs more than any node has"},
		{"enough cores here, enough memory there", func(c *sim.Config) { c.Workload = workload(t, 3, cluster.Resources{4000, 65537}) },
			"task 0 (type simulated) needs more than any node has"},
		{"unknown type", func(c *sim.Config) { c.Replica.Types = []cluster.TaskType{{Name: "b"}, {Name: "a"}} },
			`task 0: unknown task type: task type "simulated" is not configured; known: a, b`},
		{"a type without figures", func(c *sim.Config) {
			c.Replica.Types = []cluster.TaskType{{Name: "simulated", Modes: []cluster.Mode{{Name: "long"}}}}
		}, "task 0: unknown mode"},
		{"no types", func(c *sim.Config) { c.Replica.Types = nil }, `task type "simulated" is not configured`},

		{"time travel", func(c *sim.Config) { c.Network.Delay = -1 }, "network delay = -1ns: must not be negative"},
		{"a scheduler that gains time", func(c *sim.Config) { c.Network.Scheduler.Cost = -ms },
			"cost of a message at a scheduler = -1ms: must not be negative"},
		{"a data service that gains time", func(c *sim.Config) { c.Network.Data.Cost = -ms }, "cost of a message at a data service = -1ms"},
		{"a worker that gains time", func(c *sim.Config) { c.Network.Worker.Cost = -ms }, "cost of a message at a worker = -1ms"},
		{"an idle scheduler", func(c *sim.Config) { c.Network.Scheduler.Handlers = 0 }, "handlers of a scheduler = 0: at least 1 is needed"},
		{"an idle data service", func(c *sim.Config) { c.Network.Data.Handlers = 0 }, "handlers of a data service = 0"},
		{"an idle worker", func(c *sim.Config) { c.Network.Worker.Handlers = -1 }, "handlers of a worker = -1"},

		{"a fault before the start", fault("worker", "a-1", -1, 0), "fault 2: at = -1ns: nothing can happen before the start"},
		{"a fault that ends before it begins", fault("worker", "a-1", 2*time.Second, time.Second),
			"fault 2: until = 1s: must be after at = 2s, or 0 for never"},
		{"a fault that takes no time", fault("worker", "a-1", time.Second, time.Second), "fault 2: until = 1s: must be after at = 1s"},
		{"unknown worker", fault("worker", "a-9", 0, 0), `fault 2: there is no worker called "a-9"`},
		{"unknown class", fault("class", "a-1", 0, 0), `fault 2: there is no class called "a-1"`},
		{"unknown scheduler", fault("scheduler", "scheduler-2", 0, 0), `fault 2: there is no scheduler called "scheduler-2"`},
		{"a scheduler without a name", fault("scheduler", "", 0, 0), `fault 2: there is no scheduler called ""`},
		{"another data service", fault("datastore", "datastore-2", 0, 0), `fault 2: there is no datastore called "datastore-2"`},
		{"something else", fault("moon", "", 0, 0), `fault 2: what = "moon": must be worker, class, scheduler, datastore or network`},

		{"a parted worker", broken(sim.Fault{What: "worker", Name: "a-1", How: sim.Parts}), `how = "parts": of a worker it must be one of`},
		{"a network that dies", broken(sim.Fault{What: "network", Between: []string{"a-1"}, And: []string{"a-2"}}), `how = "": of a network`},
		{"a network with one side", broken(sim.Fault{What: "network", How: sim.Parts, Between: []string{"a-1"}}), "and no other, has two sides"},
		{"a worker with two sides", broken(sim.Fault{What: "worker", Name: "a-1", Between: []string{"a-1"}}), "and no other, has two sides"},
		{"an unknown side", broken(sim.Fault{What: "network", How: sim.Parts, Between: []string{"a-1"}, And: []string{"a-9"}}),
			`there is no service called "a-9"`},
		{"no share", broken(sim.Fault{What: "network", How: sim.Drops, Between: []string{"a-1"}, And: []string{"clients"}}),
			"share = 0: must be above 0 to 1"},
		{"a share of what is whole", broken(sim.Fault{What: "worker", Name: "a-1", Share: 0.5}), "share = 0.5"},
		{"a step without a clock", broken(sim.Fault{What: "worker", Name: "a-1", Step: time.Second}), "step = 1s"},
		{"a worker with a full disk", broken(sim.Fault{What: "worker", Name: "a-1", How: sim.Full}), `how = "full": of a worker`},

		{"too much skew", func(c *sim.Config) { c.Skew = 1.01 }, "skew = 1.01: must be a share, from 0 to 1"},
		{"negative skew", func(c *sim.Config) { c.Skew = -0.1 }, "skew = -0.1"},
		{"skew that is no number", func(c *sim.Config) { c.Skew = math.NaN() }, "skew = NaN"},
		{"negative interference", func(c *sim.Config) { c.Interference = -1 }, "interference = -1: must be from 0 to 1000"},
		{"interference that is no number", func(c *sim.Config) { c.Interference = math.NaN() }, "interference = NaN"},
		{"endless interference", func(c *sim.Config) { c.Interference = math.Inf(1) }, "interference = +Inf"},
		{"negative noise", func(c *sim.Config) { c.Emulation.Sigma = -1 }, "noise = -1: must be from 0 to 10"},
		{"endless noise", func(c *sim.Config) { c.Emulation.Sigma = math.Inf(1) }, "noise = +Inf"},
		{"unknown quirk", func(c *sim.Config) { c.Quirks = []string{sim.DurationDrift, "slow"} },
			`no quirk is called "slow"; known: [prototype-duration-drift prototype-truncated-gaps]`},
		{"namesakes", func(c *sim.Config) { c.Nodes[2].Name = c.Nodes[0].Name }, "two workers are called a-1"},

		{"a task that splits devices", func(c *sim.Config) {
			c.Replica.Dimensions, _ = cluster.NewDimensions("gpu")
			for i := range c.Nodes {
				c.Nodes[i].Capacity[gpu] = 4000
			}
			c.Workload = workload(t, 1, cluster.Resources{1000, 1, gpu: 1500})
		}, "task 0 (type simulated) needs more than any node has, or a part of a device beside whole ones"},
		{"unknown policy", func(c *sim.Config) { c.Policy = "guess" }, `no policy is called "guess"; known: dodoor, dodoor+`},
		{"a policy's knob", func(c *sim.Config) { c.Policy, c.Knobs.Find("score").(*scheduler.ScoreKnobs).Alpha = "dodoor", 2 },
			"score.alpha must be between 0 and 1, found 2"},
		{"a node without slots", func(c *sim.Config) { c.Nodes[1].Slots = 0 }, "node a-2: 0 slots: at least 1 is needed to run anything"},
		{"a node without cores", func(c *sim.Config) { c.Nodes[1].Capacity[cluster.Cores] = 0 }, "node a-2 has no cores"},
		{"a node without a name", func(c *sim.Config) { c.Nodes[1].Name = "" }, "the node has no name"},
		{"no batches", func(c *sim.Config) { c.Store.Batch = 0 }, "b = 0: must be at least 1"},
		{"no mini-batches", func(c *sim.Config) { c.Replica.DeltaBatch = 0 }, "b_delta = 0: must be at least 1"},
		{"the oracle and failures", func(c *sim.Config) { c.Policy, c.Faults = sim.Oracle, []sim.Fault{{What: "datastore"}} },
			"the oracle knows what was placed, not what will fail"},
	} {
		t.Run(c.name, func(t *testing.T) {
			cfg := bare(t, "random", equal("a", 3, 4), units(3, 0, ms))
			c.change(&cfg)
			result, err := sim.Run(cfg)
			if err == nil || !strings.HasPrefix(err.Error(), "simulation: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if result.Events != 0 || result.Finished() != 0 {
				t.Errorf("%d events happened", result.Events)
			}
		})
	}
}

// The limits themselves are possible.
func TestExtremeScenarios(t *testing.T) {
	for name, change := range map[string]func(*sim.Config){
		"all skew":                   func(c *sim.Config) { c.Skew = 1 },
		"no interference":            func(c *sim.Config) { c.Interference = 0 },
		"a fault at the start":       func(c *sim.Config) { c.Faults = []sim.Fault{{What: "worker", Name: "a-1", At: 0, Until: 1}} },
		"all of a node":              func(c *sim.Config) { c.Workload = workload(t, 3, cluster.Resources{4000, 65536}) },
		"huge messages":              func(c *sim.Config) { c.MaxBatch = math.MaxInt32 },
		"a slow network":             func(c *sim.Config) { c.Network.Delay = time.Minute },
		"much interference":          func(c *sim.Config) { c.Interference = 1000 },
		"much noise":                 func(c *sim.Config) { c.Emulation.Sigma = 10 },
		"more schedulers than tasks": func(c *sim.Config) { c.Schedulers = 50 },
	} {
		t.Run(name, func(t *testing.T) {
			cfg := bare(t, "dodoor", equal("a", 3, 4), units(3, 0, ms))
			change(&cfg)
			if _, result := run(t, cfg); result.Finished() != 3 {
				t.Errorf("outcomes %v", result.Outcomes)
			}
		})
	}
}
