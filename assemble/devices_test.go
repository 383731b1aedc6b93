package assemble

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"dodoor/conf"
	"dodoor/internal/telemetry"
)

// A worker has the devices of its configuration. What was not known when that was read, its class, may be wrong for them.
func TestDevicesOfTheConfiguration(t *testing.T) {
	const tooFew = "node worker-1: there are 2 ids for 3 gpu: as many are needed"
	for class, want := range map[string]string{"two": "", "three": tooFew, "none": ""} {
		c := conf.Default()
		c.Classes = []conf.Class{{Name: "two", Cores: 1, MemoryMB: 64, Count: 1, Extra: map[string]float64{"gpu": 2}},
			{Name: "three", Cores: 1, MemoryMB: 64, Count: 1, Extra: map[string]float64{"gpu": 3}},
			{Name: "none", Cores: 1, MemoryMB: 64, Count: 1}}
		c.Types = []conf.TaskType{{Name: "t", Executor: "sleep"}}
		c.Worker.Devices = map[string]*conf.Devices{"gpu": {IDs: []string{"4", "5"}}}
		c.Worker.Class = "two"
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		c.Worker.Class, c.Worker.Listen = class, "127.0.0.1:0"
		d, err := Worker(c, Site{Log: slog.New(slog.DiscardHandler), Metrics: telemetry.NewRegistry("worker", "worker-1")})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", class, err, want)
		}
		if err == nil {
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			if err := d.Run(ctx); err != nil { // it gives its address back
				t.Error(err)
			}
		}
	}
}

// Workers of one machine do not have the same devices.
func TestDevicesOfOneMachine(t *testing.T) {
	start := func(ids []string, executor string) (given string, err error) {
		c := conf.Default()
		c.Classes = []conf.Class{{Name: "a", Cores: 1, MemoryMB: 64, Count: 2, Extra: map[string]float64{"gpu": 2, "licence": 1.5}},
			{Name: "b", Cores: 1, MemoryMB: 64, Count: 1, Extra: map[string]float64{"gpu": 1, "tape": 1}}}
		c.Types = []conf.TaskType{{Name: "t", Executor: executor}}
		c.Worker.Devices = map[string]*conf.Devices{"gpu": {IDs: ids, Variable: "V"}}
		dims, err := c.Dimensions()
		if err != nil {
			t.Fatal(err)
		}
		err = EachLocalWorker(*c, func(own *conf.Config) error {
			class, _ := own.Class(own.Worker.Class)
			capacity := class.Capacity(dims)
			for _, extra := range []string{"gpu", "licence", "tape"} {
				if d, has := own.DevicesOf(dims, &capacity)[extra]; has {
					given += fmt.Sprint(own.Worker.Name, " ", extra, d.IDs, d.Variable, " ")
				}
			}
			return nil
		})
		if len(c.Worker.Devices) != 1 || len(c.Worker.Devices["gpu"].IDs) != len(ids) {
			t.Errorf("the configuration has become %+v", c.Worker.Devices)
		}
		return given, err
	}
	const want = "a-1 gpu[0 1]V a-1 licence[] a-2 gpu[2 3]V a-2 licence[] b-1 gpu[4]V b-1 tape[0] "
	if given, err := start(nil, "process"); given != want || err != nil {
		t.Errorf("%s, %v, want %s", given, err, want)
	}
	const shared = "workers a-1 and a-2 would share the gpu 7, 8"
	if _, err := start([]string{"7", "8"}, "process"); err == nil || !strings.Contains(err.Error(), shared) {
		t.Errorf("%v, want %s", err, shared)
	}
	if _, err := start([]string{"7", "8"}, "sleep"); err != nil {
		t.Error("tasks that only pass the time use no devices:", err)
	}
}
