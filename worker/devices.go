package worker

import (
	"fmt"
	"maps"
	"slices"

	"dodoor/internal/cluster"
)

// Devices is what a node says of its devices of one extra.
type Devices struct {
	IDs      []string // as many as the capacity; none: 0, 1, 2 and so on
	Variable string   // by which programs find theirs; empty: none
	Driver   string   // of the container engine, that puts them into containers; empty: none
}

// Assigned is what one execution has of an extra whose capacity is devices.
type Assigned struct {
	Dimension int // of Shape.Demand
	Extra     string
	Devices   // those that are the execution's; IDs is empty where it demanded none
}

// deviceNames names the devices of a node.
type deviceNames struct {
	all  []Assigned // every device there is, by extra
	none []Assigned // the same without ids: what an execution has that demands no device
}

// deviceNames resolves the devices of the node's capacity.
func (c *Config) deviceNames() (v deviceNames, err error) {
	for _, name := range slices.Sorted(maps.Keys(c.Devices)) {
		if k, ok := c.Dimensions.Index(name); !ok || k < cluster.FirstExtra {
			return v, fmt.Errorf("node %s: devices of %q: there is no such extra", c.Node.Name, name)
		}
	}
	for k := cluster.FirstExtra; k < c.Dimensions.Len(); k++ {
		name, capacity := c.Dimensions.Name(k), c.Node.Capacity[k]
		own := c.Devices[name]
		ids, err := c.Dimensions.DeviceIDs(k, capacity, own.IDs)
		if err != nil {
			return v, fmt.Errorf("node %s: %w", c.Node.Name, err)
		}
		if len(ids) == 0 {
			continue
		}
		a := Assigned{Dimension: k, Extra: name, Devices: own}
		a.IDs = nil
		v.none = append(v.none, a)
		a.IDs = ids
		v.all = append(v.all, a)
	}
	return v, nil
}

// assigned names the devices that an execution holds, of every extra that has some here. It is shared, and not to be written,
// where it holds none.
func (v *deviceNames) assigned(held []cluster.Device) []Assigned {
	if len(held) == 0 {
		return v.none
	}
	list := slices.Clone(v.none)
	for i := range list {
		for _, d := range held {
			if int(d.Dimension) == list[i].Dimension {
				list[i].IDs = append(list[i].IDs, v.all[i].IDs[d.Index])
			}
		}
	}
	return list
}
