package cluster

import "fmt"

// MaxDevices is how many devices of one extra a node can have. A larger capacity is a plain quantity.
const MaxDevices = 1024

// wholeDevice is a device in thousandths of it.
const wholeDevice = 1000

// DeviceCount is how many devices a capacity in dimension k is: an extra of a whole amount, up to MaxDevices, is as many of
// them. Any other amount is a plain quantity, 0.
func DeviceCount(k int, capacity int64) int {
	if k < FirstExtra || capacity <= 0 || capacity%wholeDevice != 0 || capacity > MaxDevices*wholeDevice {
		return 0
	}
	return int(capacity / wholeDevice)
}

// splits reports whether an amount is neither whole devices nor a part of one.
func splits(demand int64) bool { return demand > wholeDevice && demand%wholeDevice != 0 }

// Splits returns a dimension in which r is more than one device and not whole ones, where the capacity is devices: it never
// fits there.
func (r *Resources) Splits(capacity *Resources) (dimension int, never bool) {
	for k := FirstExtra; k < len(r); k++ {
		if SplitsDevices(k, r[k], capacity[k]) {
			return k, true
		}
	}
	return 0, false
}

// SplitsDevices is Splits in one dimension.
func SplitsDevices(k int, demand, capacity int64) bool {
	return splits(demand) && DeviceCount(k, capacity) > 0
}

// FitsEmpty reports whether r ever fits on a node of a capacity: when nothing else runs there.
func (r *Resources) FitsEmpty(capacity *Resources) bool {
	for k := range r {
		if r[k] > capacity[k] || r[k] > wholeDevice && SplitsDevices(k, r[k], capacity[k]) {
			return false
		}
	}
	return true
}

// SplitRule says what is wrong with an amount of dimension k that splits devices.
func (d Dimensions) SplitRule(k int, amount int64) string {
	return fmt.Sprintf("%s is neither whole devices nor a part of one: ask for up to 1, or for a whole number", d.Format(k, amount))
}

// Device names one of a node's devices: an extra, and which one of it.
type Device struct{ Dimension, Index int32 }

// Devices is what is free of each device of a node. Its zero value has none: every amount is a plain quantity, and fits as far
// as devices are concerned.
type Devices struct {
	any  bool
	free [MaxDimensions - FirstExtra][]int32 // thousandths of each; none for a plain quantity
}

// NewDevices returns the devices of a node of a capacity, all of them free.
func NewDevices(capacity *Resources) (d Devices) {
	for k := FirstExtra; k < MaxDimensions; k++ {
		n := DeviceCount(k, capacity[k])
		if n == 0 {
			continue
		}
		free := make([]int32, n)
		for i := range free {
			free[i] = wholeDevice
		}
		d.any, d.free[k-FirstExtra] = true, free
	}
	return d
}

// Any reports whether there are devices at all.
func (d *Devices) Any() bool { return d.any }

// Fits reports whether the devices that a demand asks for are free: n of which nobody uses anything for a whole number n, and
// one that has room for less than one.
func (d *Devices) Fits(demand *Resources) bool {
	if !d.any {
		return true
	}
	for e, free := range d.free {
		if asked := demand[FirstExtra+e]; asked > 0 && len(free) > 0 && !fits(free, asked) {
			return false
		}
	}
	return true
}

func fits(free []int32, asked int64) bool {
	if asked < wholeDevice {
		return bestFit(free, int32(asked)) >= 0
	}
	if splits(asked) {
		return false
	}
	n := asked / wholeDevice
	for _, room := range free {
		if room == wholeDevice {
			n--
		}
	}
	return n <= 0
}

// bestFit returns the fullest device with room for a part of one, the first of several; none: -1. Devices that nobody uses stay free
// for whoever needs all of one.
func bestFit(free []int32, part int32) int {
	best := -1
	for i, room := range free {
		if room >= part && (best < 0 || room < free[best]) {
			best = i
		}
	}
	return best
}

// Assign takes the devices of a demand that fits and returns them in their order; nil: it asks for none.
func (d *Devices) Assign(demand *Resources) (held []Device) {
	if !d.any {
		return nil
	}
	for e, free := range d.free {
		k := FirstExtra + e
		switch asked := demand[k]; {
		case asked <= 0 || len(free) == 0:
		case asked < wholeDevice:
			i := bestFit(free, int32(asked))
			free[i] -= int32(asked)
			held = append(held, Device{int32(k), int32(i)})
		default:
			n := asked / wholeDevice
			for i := 0; n > 0; i++ {
				if free[i] == wholeDevice {
					free[i] = 0
					held = append(held, Device{int32(k), int32(i)})
					n--
				}
			}
		}
	}
	return held
}

// Release gives back what Assign took for a demand.
func (d *Devices) Release(demand *Resources, held []Device) {
	for _, device := range held {
		d.free[device.Dimension-FirstExtra][device.Index] += int32(min(demand[device.Dimension], wholeDevice))
	}
}

// Copy makes d what another one is, in its own memory.
func (d *Devices) Copy(from *Devices) {
	d.any = from.any
	for e := range d.free {
		d.free[e] = append(d.free[e][:0], from.free[e]...)
	}
}

// DeviceIDs returns the ids of the devices of dimension k of a capacity: the given ones, or 0, 1, 2 and so on where there are
// none. It fails when they are not as many as the devices, or one is empty or repeated.
func (d Dimensions) DeviceIDs(k int, capacity int64, given []string) ([]string, error) {
	n := DeviceCount(k, capacity)
	if len(given) == 0 {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = fmt.Sprint(i)
		}
		return ids, nil
	}
	seen := make(map[string]bool, len(given))
	for _, id := range given {
		switch {
		case n == 0:
			return nil, fmt.Errorf("%s is no set of devices: it needs a whole number of them, from 1 to %d", d.Format(k, capacity), MaxDevices)
		case id == "":
			return nil, fmt.Errorf("one of the ids of %s is empty", d.names[k])
		case seen[id]:
			return nil, fmt.Errorf("the id %.80q of %s is there twice", id, d.names[k])
		}
		seen[id] = true
	}
	if len(given) != n {
		return nil, fmt.Errorf("there are %d ids for %s: as many are needed", len(given), d.Format(k, capacity))
	}
	return given, nil
}
