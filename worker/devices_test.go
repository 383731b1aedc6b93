package worker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A dimension of devices is admitted by device: the residual capacity of 1.2 GPUs is no whole one.
func TestAdmittedOnlyOnSingleDevices(t *testing.T) {
	n := newNode(t, withGPUs("0", "1"))
	s := attach(t, n, "s", 1)
	task := shape(0.1, 1, 1)
	expect(t, "a part", started(s.enqueue(t, n, 0, "a", onGPUs(task, 0.6))), " a")
	expect(t, "what does not fit beside it", started(s.enqueue(t, n, 0, "b", onGPUs(task, 0.5))), " b")
	expect(t, "0.9 in all, 0.5 at most of one", started(s.enqueue(t, n, 0, "c", onGPUs(task, 0.6))), "")
	expect(t, "nobody overtakes the head", started(s.enqueue(t, n, 0, "d", task)), "")
	expect(t, "b had one alone", started(finished(n, time.Second, "b")), " c d")
	s.enqueue(t, n, time.Second, "e", onGPUs(task, 1))
	expect(t, "0.4 of each are no whole one", n.Stats(time.Second).Queued, 1)
	expect(t, "a had one alone", started(finished(n, 2*time.Second, "a")), " e")
}

// However an execution ends, its devices are free again.
func TestDevicesAreReleased(t *testing.T) {
	for _, end := range []cluster.Outcome{cluster.Finished, cluster.Failed, cluster.TimedOut, cluster.Cancelled, cluster.Lost} {
		n := newNode(t, withGPUs("0", "1"))
		s := attach(t, n, "s", 1)
		s.enqueue(t, n, 0, "a", onGPUs(shape(1, 1, 1), 2))
		s.enqueue(t, n, 0, "b", onGPUs(shape(1, 1, 1), 1))
		actions := n.Finished(time.Second, "a", Result{Outcome: end})
		expect(t, end.String(), started(actions)+handed(actions.Start[0].Devices), " b with gpu 0")
	}
	n := newNode(t, withGPUs("0"))
	attach(t, n, "s", 1).enqueue(t, n, 0, "a", onGPUs(shape(1, 1, 1), 1))
	n.Abandon(time.Second, "shutdown")
	if !n.ledger.devices.Fits(&cluster.Resources{cluster.FirstExtra: 1000}) {
		t.Error("a task that was given up keeps its device")
	}
}

// An execution is told of every extra that has devices on its node: also of one that it has nothing of.
func TestWhatAnExecutionIsToldOfDevices(t *testing.T) {
	dims, err := cluster.NewDimensions("fpga", "gpu", "licence")
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(t, func(c *Config) {
		c.Dimensions = dims
		c.Devices = map[string]Devices{"gpu": {IDs: []string{"x", "y"}, Variable: "CUDA_VISIBLE_DEVICES", Driver: "nvidia"}}
		c.Node.Capacity[3], c.Node.Capacity[4], c.Node.Capacity[5] = 1000, 2000, 2500
	})
	s := attach(t, n, "s", 1)
	demands := cluster.Shape{Demand: cluster.Resources{3: 500, 4: 2000, 5: 1500}}
	both := s.enqueue(t, n, 0, "a", demands).Start[0].Devices
	expect(t, "both", fmt.Sprintf("%+v", both), "[{Dimension:3 Extra:fpga Devices:{IDs:[0] Variable: Driver:}} "+
		"{Dimension:4 Extra:gpu Devices:{IDs:[x y] Variable:CUDA_VISIBLE_DEVICES Driver:nvidia}}]")
	none := s.enqueue(t, n, 0, "b", shape(1, 1, 1)).Start[0].Devices
	expect(t, "none", fmt.Sprintf("%+v", none), "[{Dimension:3 Extra:fpga Devices:{IDs:[] Variable: Driver:}} "+
		"{Dimension:4 Extra:gpu Devices:{IDs:[] Variable:CUDA_VISIBLE_DEVICES Driver:nvidia}}]")
	plain := newNode(t)
	if devices := attach(t, plain, "s", 1).enqueue(t, plain, 0, "a", shape(1, 1, 1)).Start[0].Devices; devices != nil {
		t.Errorf("%v on a node without", devices)
	}
}

func TestWrongDevices(t *testing.T) {
	for want, change := range map[string]func(*Config){
		"node n1: there are 1 ids for 2 gpu":            func(c *Config) { c.Node.Capacity[cluster.FirstExtra] = 2000 },
		"node n1: 1.5 gpu is no set of devices":         func(c *Config) { c.Node.Capacity[cluster.FirstExtra] = 1500 },
		"node n1: devices of \"tpu\": there is no such": func(c *Config) { c.Devices["tpu"] = Devices{} },
		"node n1: devices of \"cores\"":                 func(c *Config) { c.Devices["cores"] = Devices{} },
	} {
		cfg := testConfig()
		withGPUs("0")(&cfg)
		change(&cfg)
		if _, err := New(cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
