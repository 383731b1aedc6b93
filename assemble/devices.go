package assemble

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"dodoor/conf"
	"dodoor/internal/cluster"
)

// EachLocalWorker is EachWorker where all run on this machine, whose devices each worker has for itself: those of the first are 0, 1
// and so on, those of the next follow. It fails where ids are given and two workers would have them, unless tasks are but
// emulated.
func EachLocalWorker(c conf.Config, do func(own *conf.Config) error) error {
	dims, err := c.Dimensions()
	if err != nil {
		return err
	}
	all, taken := c.Worker.Devices, map[string]*share{}
	return EachWorker(c, func(own *conf.Config) error {
		class, _ := own.Class(own.Worker.Class)
		capacity := class.Capacity(dims)
		own.Worker.Devices = maps.Clone(all)
		if own.Worker.Devices == nil {
			own.Worker.Devices = map[string]*conf.Devices{}
		}
		for k := cluster.FirstExtra; k < dims.Len(); k++ {
			name, count := dims.Name(k), cluster.DeviceCount(k, capacity[k])
			if count == 0 {
				continue
			}
			if taken[name] == nil {
				taken[name] = &share{first: own.Worker.Name}
			}
			d := own.DevicesCalled(name)
			if err := taken[name].give(own, name, count, &d); err != nil {
				return err
			}
			own.Worker.Devices[name] = &d
		}
		return do(own)
	})
}

// share is what workers have of the devices of one extra.
type share struct {
	first string // worker that has some
	count int    // that are given away
}

// give says which devices a worker has.
func (s *share) give(own *conf.Config, extra string, count int, d *conf.Devices) error {
	real := slices.ContainsFunc(Executors(own), func(name string) bool { return name != "sleep" })
	if len(d.IDs) > 0 {
		if real && s.count > 0 {
			return fmt.Errorf("workers %s and %s would share the %s %s: without worker.devices.%s.ids each gets its own, numbered from 0",
				s.first, own.Worker.Name, extra, strings.Join(d.IDs, ", "), extra)
		}
	} else {
		for i := range count {
			d.IDs = append(d.IDs, strconv.Itoa(s.count+i))
		}
	}
	s.count += count
	return nil
}
