package assemble

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"dodoor/conf"
	"dodoor/internal/telemetry"
)

// A worker has the devices of its configuration. What was not known when that was read, its class, may be wrong for them.
func TestDevicesOfTheConfiguration(t *testing.T) {
	for class, want := range map[string]string{"two": "", "none": "",
		"three": "node worker-1: there are 2 ids for 3 gpu: as many are needed"} {
		c := conf.Default()
		c.Classes = []conf.Class{{Name: "two", Cores: 1, MemoryMB: 64, Count: 1, Extra: map[string]float64{"gpu": 2}},
			{Name: "three", Cores: 1, MemoryMB: 64, Count: 1, Extra: map[string]float64{"gpu": 3}},
			{Name: "none", Cores: 1, MemoryMB: 64, Count: 1}}
		c.Types = []conf.TaskType{{Name: "t", Executor: "sleep"}}
		c.Worker.Devices = map[string]*conf.Devices{"gpu": {IDs: []string{"4", "5"}}}
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
