package cluster

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// gpus is a demand or a capacity of the first extra in thousandths.
func gpus(amount int64) *Resources { return &Resources{FirstExtra: amount} }

func TestWhatCountsAsDevices(t *testing.T) {
	for capacity, want := range map[int64]int{0: 0, -1000: 0, 999: 0, 1000: 1, 2500: 0, 4000: 4, MaxDevices * 1000: MaxDevices,
		(MaxDevices + 1) * 1000: 0, MaxAmount: 0} {
		if got := DeviceCount(FirstExtra, capacity); got != want {
			t.Errorf("%d thousandths are %d devices, want %d", capacity, got, want)
		}
	}
	if DeviceCount(Cores, 4000) != 0 {
		t.Error("cores are devices")
	}
}

func TestWhatNeverFits(t *testing.T) {
	for _, c := range []struct {
		demand, capacity int64
		want             bool
	}{
		{1500, 4000, false}, {1001, 4000, false}, {999, 4000, true}, {1000, 4000, true}, {4000, 4000, true}, {5000, 4000, false},
		{1500, 2500, true}, {2600, 2500, false}, {1500, 0, false}, {0, 0, true}, {1500, (MaxDevices + 1) * 1000, true},
	} {
		if got := gpus(c.demand).FitsEmpty(gpus(c.capacity)); got != c.want {
			t.Errorf("%d of %d ever fits: %v", c.demand, c.capacity, got)
		}
	}
	cores := Resources{Cores: 1500}
	if !cores.FitsEmpty(&Resources{Cores: 2000}) {
		t.Error("cores come in parts")
	}
}

// Parts of devices go where the least is left, whole ones to the first that nobody uses.
func TestBestFit(t *testing.T) {
	d := NewDevices(gpus(3000))
	for _, step := range []struct {
		demand int64
		want   string // "": it does not fit
	}{{300, "0"}, {600, "0"}, {200, "1"}, {100, "0"}, {2000, ""}, {1000, "2"}, {1000, ""}, {900, ""}, {800, "1"}, {1, ""}, {0, "-"}} {
		got := "-"
		if !d.Fits(gpus(step.demand)) {
			got = ""
		} else if held := d.Assign(gpus(step.demand)); len(held) > 0 {
			got = fmt.Sprint(held[0].Index)
		}
		if got != step.want {
			t.Fatalf("%d thousandths go to %q, want %q", step.demand, got, step.want)
		}
	}
}

// dumbDevices is every assignment that is held, and nothing else.
type dumbDevices struct {
	capacity Resources
	held     []assignment
}

type assignment struct {
	demand Resources
	on     []Device
}

// used adds up what is taken of a device.
func (o *dumbDevices) used(at Device) (sum int64) {
	for _, a := range o.held {
		if slices.Contains(a.on, at) {
			sum += min(a.demand[at.Dimension], 1000)
		}
	}
	return sum
}

// fits tries every set of devices.
func (o *dumbDevices) fits(demand *Resources) bool {
	for k := FirstExtra; k < MaxDimensions; k++ {
		n := DeviceCount(k, o.capacity[k])
		if n == 0 || demand[k] == 0 {
			continue
		}
		possible := false
		for set := range 1 << n {
			sum, room := int64(0), true
			each := demand[k]
			if each > 1000 {
				each = 1000
			}
			for i := range n {
				if set&(1<<i) != 0 {
					sum += each
					room = room && o.used(Device{int32(k), int32(i)})+each <= 1000
				}
			}
			possible = possible || room && sum == demand[k]
		}
		if !possible {
			return false
		}
	}
	return true
}

// Whatever comes and goes, a demand fits when some set of devices could serve it, it gets as many as it asks for, none of
// them twice, and no device is ever more than full.
func TestDevicesAgainstBruteForce(t *testing.T) {
	amounts := rapid.SampledFrom([]int64{0, 1, 250, 500, 750, 999, 1000, 1500, 2000, 3000})
	rapid.Check(t, func(t *rapid.T) {
		capacity := Resources{Cores: 8000, FirstExtra: rapid.Int64Range(0, 5).Draw(t, "gpus") * 1000,
			FirstExtra + 1: rapid.SampledFrom([]int64{0, 2500, 2000}).Draw(t, "others")}
		d, o := NewDevices(&capacity), dumbDevices{capacity: capacity}
		for range rapid.IntRange(1, 40).Draw(t, "steps") {
			if len(o.held) > 0 && rapid.Bool().Draw(t, "release") {
				i := rapid.IntRange(0, len(o.held)-1).Draw(t, "which")
				d.Release(&o.held[i].demand, o.held[i].on)
				o.held = slices.Delete(o.held, i, i+1)
				continue
			}
			demand := Resources{FirstExtra: amounts.Draw(t, "gpu"), FirstExtra + 1: amounts.Draw(t, "other")}
			if got, want := d.Fits(&demand), o.fits(&demand); got != want {
				t.Fatalf("%v fits: %v, want %v, with %+v held", demand, got, want, o.held)
			} else if !got {
				continue
			}
			a := assignment{demand, d.Assign(&demand)}
			for k := FirstExtra; k < MaxDimensions; k++ {
				n := 0
				for _, at := range a.on {
					if int(at.Dimension) == k {
						n++
					}
				}
				want := int((demand[k] + 999) / 1000)
				if DeviceCount(k, capacity[k]) == 0 {
					want = 0
				}
				if n != want {
					t.Fatalf("%v got %v", demand, a.on)
				}
			}
			o.held = append(o.held, a)
			for _, at := range a.on {
				if sum := o.used(at); sum > 1000 || int(at.Index) >= DeviceCount(int(at.Dimension), capacity[at.Dimension]) {
					t.Fatalf("%d thousandths of %v are taken", sum, at)
				}
			}
		}
		for _, a := range o.held {
			d.Release(&a.demand, a.on)
		}
		if fresh := NewDevices(&capacity); fmt.Sprint(d) != fmt.Sprint(fresh) {
			t.Fatalf("%v when all is released, want %v", d, fresh)
		}
	})
}

// A copy lives its own life.
func TestCopiesOfDevices(t *testing.T) {
	d := NewDevices(gpus(2000))
	d.Assign(gpus(1000))
	var c Devices
	c.Copy(&d)
	c.Assign(gpus(1000))
	if c.Fits(gpus(1)) || !d.Fits(gpus(1000)) || d.Fits(gpus(2000)) {
		t.Errorf("%v, copied to %v", d, c)
	}
	if c.Copy(&Devices{}); c.Any() || !c.Fits(gpus(9999)) {
		t.Errorf("%v", c)
	}
}

// Asking whether the head of a line fits allocates nothing.
func TestFitsAllocatesNothing(t *testing.T) {
	d, demand := NewDevices(gpus(8000)), gpus(500)
	if n := testing.AllocsPerRun(100, func() { d.Fits(demand) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestDeviceIDs(t *testing.T) {
	dims, err := NewDimensions("gpu")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		capacity int64
		given    []string
		want     string // or part of the error
	}{
		{3000, nil, "[0 1 2]"},
		{2500, nil, "[]"},
		{2000, []string{"GPU-5b", "3"}, "[GPU-5b 3]"},
		{2000, []string{"1"}, "there are 1 ids for 2 gpu: as many are needed"},
		{2000, []string{"1", "2", "3"}, "there are 3 ids for 2 gpu"},
		{2000, []string{"1", "1"}, `the id "1" of gpu is there twice`},
		{2000, []string{"1", ""}, "one of the ids of gpu is empty"},
		{2500, []string{"1", "2"}, "2.5 gpu is no set of devices: it needs a whole number of them, from 1 to 1024"},
		{0, []string{"1"}, "0 gpu is no set of devices"},
	} {
		ids, err := dims.DeviceIDs(FirstExtra, c.capacity, c.given)
		got := fmt.Sprint(ids)
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%v of %d: %s, want %s", c.given, c.capacity, got, c.want)
		}
	}
}
