// Package cluster is Dodoor's vocabulary as plain values: resources, tasks, nodes, loads, and the
// messages that services exchange. It does no I/O, reads no clock and holds no lock.
package cluster

import (
	"fmt"
	"slices"
	"strings"
)

// MaxDimensions bounds K, the number of resource dimensions. A fixed array keeps a vector a plain
// comparable value in one cache line, so that placement allocates nothing.
const MaxDimensions = 8

// The dimensions every cluster has; named extras (gpu, fpga, ...) follow from FirstExtra.
const (
	Cores      = 0 // millicores
	Memory     = 1 // MiB
	Disk       = 2 // MiB
	FirstExtra = 3 // thousandths of the named resource
)

// PerUnit is how many small units of dimension k make one core, one MiB or one of the named resource.
func PerUnit(k int) int64 {
	if k == Memory || k == Disk {
		return 1
	}
	return 1000
}

// MaxAmount bounds one amount on arrival (about 10^12 small units), so that sums over every task a
// cluster can hold stay far from overflow.
const MaxAmount = int64(1) << 40

// Resources is a K-dimensional vector of amounts in small integer units; unused dimensions are 0.
type Resources [MaxDimensions]int64

// Add returns r + o.
func (r Resources) Add(o Resources) Resources {
	for k := range r {
		r[k] += o[k]
	}
	return r
}

// Sub returns r - o.
func (r Resources) Sub(o Resources) Resources {
	for k := range r {
		r[k] -= o[k]
	}
	return r
}

// FitsIn reports whether r is at most room in every dimension.
func (r *Resources) FitsIn(room *Resources) bool {
	for k := range r {
		if r[k] > room[k] {
			return false
		}
	}
	return true
}

// Dimensions names the dimensions of one cluster: cores, memory, disk, then the extras in
// alphabetical order. Every service of a cluster is configured with the same ones.
type Dimensions struct{ names []string }

// NewDimensions returns the standard dimensions and the given extras. It fails when there are more
// than MaxDimensions or when a name is empty, repeated, or that of a standard dimension.
func NewDimensions(extras ...string) (Dimensions, error) {
	sorted := slices.Sorted(slices.Values(extras))
	d := Dimensions{names: append([]string{"cores", "memory", "disk"}, sorted...)}
	if len(d.names) > MaxDimensions {
		return d, fmt.Errorf("%d resource dimensions (%s): at most %d are supported",
			len(d.names), strings.Join(d.names, ", "), MaxDimensions)
	}
	for i, n := range d.names {
		if n == "" {
			return d, fmt.Errorf("an extra resource has an empty name")
		}
		for _, m := range d.names[:i] {
			if n == m {
				return d, fmt.Errorf("resource %q is named twice", n)
			}
		}
	}
	return d, nil
}

// Standard is cores, memory and disk alone.
func Standard() Dimensions { return Dimensions{names: []string{"cores", "memory", "disk"}} }

// Len returns K.
func (d Dimensions) Len() int { return len(d.names) }

// Name returns the name of dimension k.
func (d Dimensions) Name(k int) string { return d.names[k] }

// Index returns the dimension called name.
func (d Dimensions) Index(name string) (int, bool) {
	for k, n := range d.names {
		if n == name {
			return k, true
		}
	}
	return 0, false
}

// Extras returns the names of the extra dimensions.
func (d Dimensions) Extras() []string { return d.names[FirstExtra:] }

// Format prints amount of dimension k for people: 2.5 cores, 512 MiB memory, 1 gpu.
func (d Dimensions) Format(k int, amount int64) string {
	switch k {
	case Cores:
		return fmt.Sprintf("%g cores", float64(amount)/1000)
	case Memory, Disk:
		return fmt.Sprintf("%d MiB %s", amount, d.names[k])
	default:
		return fmt.Sprintf("%g %s", float64(amount)/1000, d.names[k])
	}
}

// Describe prints every dimension of r that is not zero.
func (d Dimensions) Describe(r Resources) string {
	var parts []string
	for k := range d.names {
		if r[k] != 0 {
			parts = append(parts, d.Format(k, r[k]))
		}
	}
	if len(parts) == 0 {
		return "nothing"
	}
	return strings.Join(parts, ", ")
}
