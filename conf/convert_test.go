package conf

import (
	"reflect"
	"testing"

	"dodoor/internal/cluster"
)

func TestConversions(t *testing.T) {
	c, err := loadText(`
[[class]]
name = "gpu-node"
cores = 2.5
memory_mb = 4096
disk_mb = 100
extra = { gpu = 0.5, fpga = 2 }
[[class]]
name = "tiny"
cores = 0.001
memory_mb = 1
slots = 3
[[task_type]]
name = "train"
executor = "stress-ng"
argv = ["-q"]
[[task_type.mode]]
name = "short"
argv = ["--fast"]
cores = 1.001
memory_mb = 7
disk_mb = 8
duration = "1.5s"
extra = { gpu = 0.001 }
[[task_type.mode.profile]]
class = "tiny"
cores = 0.001
duration = "1h"
[[task_type.mode]]
name = "bare"
[[task_type]]
name = "any"
`)
	if err != nil {
		t.Fatal(err)
	}
	dims, err := c.Dimensions()
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(dims.Extras(), []string{"fpga", "gpu"}) {
		t.Errorf("extras are %v", dims.Extras())
	}
	big, _ := c.Class("gpu-node")
	tiny, _ := c.Class("tiny")
	if _, ok := c.Class("none"); ok {
		t.Error("found a class that is not there")
	}
	if got, want := big.Capacity(dims), (cluster.Resources{2500, 4096, 100, 2000, 500}); got != want {
		t.Errorf("capacity is %v, want %v", got, want)
	}
	if got, want := tiny.Capacity(dims), (cluster.Resources{1, 1}); got != want {
		t.Errorf("capacity is %v, want %v", got, want)
	}
	want := []cluster.TaskType{
		{Name: "train", Executor: "stress-ng", Argv: []string{"-q"}, Modes: []cluster.Mode{
			{
				Name: "short", Argv: []string{"--fast"},
				Default:  &cluster.Shape{Demand: cluster.Resources{1001, 7, 8, 0, 1}, Duration: 1500},
				PerClass: map[string]cluster.Shape{"tiny": {Demand: cluster.Resources{1}, Duration: 3_600_000}},
			},
			{Name: "bare", PerClass: map[string]cluster.Shape{}},
		}},
		{Name: "any", Executor: "sleep"},
	}
	if got := c.TaskTypes(); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestSlots(t *testing.T) {
	for _, c := range []struct {
		cores       float64
		class, node int
		want        int
	}{{8, 0, 0, 8}, {2.9, 0, 0, 2}, {0.5, 0, 0, 1}, {8, 3, 0, 3}, {8, 3, 5, 5}, {8, 0, 5, 5}} {
		config := Config{Worker: Worker{Slots: c.node}}
		if got := config.SlotsOn(Class{Cores: c.cores, Slots: c.class}); got != c.want {
			t.Errorf("%+v: got %d", c, got)
		}
	}
}

func TestDialAddress(t *testing.T) {
	if got := (Datastore{Listen: "a:1"}).DialAddress(); got != "a:1" {
		t.Errorf("got %s", got)
	}
	if got := (Datastore{Listen: "a:1", Address: "b:2"}).DialAddress(); got != "b:2" {
		t.Errorf("got %s", got)
	}
}
