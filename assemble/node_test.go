package assemble

import (
	"testing"

	"dodoor/conf"
	"dodoor/internal/cgroup"
	"dodoor/internal/cluster"
)

func TestDetectedClasses(t *testing.T) {
	for want, own := range map[string]cgroup.Capacity{
		"auto-4c-8128m":   {Millicores: 4000, Memory: 8191 << 20},
		"auto-0.5c-1024m": {Millicores: 500, Memory: 1 << 30},
		"auto-1.5c-1m":    {Millicores: 1500, Memory: 3 << 20},
	} {
		if got := detected(own); got.Name != want || got.Cores*1000 != float64(own.Millicores) {
			t.Errorf("%+v: %+v, want %s", own, got, want)
		}
	}
}

// A worker of class auto registers what it finds, and one of a class what the configuration says.
func TestNodes(t *testing.T) {
	c := conf.Default()
	c.Classes = []conf.Class{{Name: "small", Cores: 1.5, MemoryMB: 64, Count: 1}}
	for class, want := range map[string]func(cluster.Node) bool{
		"small": func(n cluster.Node) bool {
			return n.Class == "small" && n.Capacity == cluster.Resources{1500, 64} && n.Slots == 1
		},
		conf.AutoClass: func(n cluster.Node) bool {
			return n.Class != conf.AutoClass && n.Capacity[cluster.Cores] > 0 && n.Capacity[cluster.Memory] > 0 && n.Slots >= 1
		},
	} {
		c.Worker.Class = class
		if n, err := node(c, cluster.Standard()); err != nil || n.Name != c.Worker.Name || !want(n) {
			t.Errorf("%s: %+v, %v", class, n, err)
		}
	}
	c.Worker.Class = ""
	if _, err := node(c, cluster.Standard()); err == nil || err.Error() != "worker worker-1 needs a class (-class): one of small, or auto" {
		t.Error(err)
	}
}
