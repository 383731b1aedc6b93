package journal

import (
	"fmt"
	"testing"

	"dodoor/scheduler"
)

// BenchmarkWrite writes groups of 64 acceptances, and as many ends of earlier tasks: an operation is one task.
func BenchmarkWrite(b *testing.B) {
	const group = 64
	j, err := Open(b.TempDir(), quiet)
	if err != nil {
		b.Fatal(err)
	}
	defer j.Close()
	value := make([]byte, 200)
	var changes []scheduler.Change
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		changes = append(changes, scheduler.Change{Key: fmt.Sprintf("t%016x", i), Value: value})
		if i >= 10*group {
			changes = append(changes, scheduler.Change{Key: fmt.Sprintf("t%016x", i-10*group)})
		}
		if i%group == group-1 {
			if err := j.Write(changes); err != nil {
				b.Fatal(err)
			}
			changes = changes[:0]
		}
	}
}

// BenchmarkOpen opens a folder with 200,000 live keys and reads them all.
func BenchmarkOpen(b *testing.B) {
	const live, group = 200_000, 1000
	folder := b.TempDir()
	j, err := Open(folder, quiet)
	if err != nil {
		b.Fatal(err)
	}
	for i := range live / group {
		changes := make([]scheduler.Change, group)
		for k := range changes {
			changes[k] = scheduler.Change{Key: fmt.Sprintf("t%016x", i*group+k), Value: make([]byte, 200)}
		}
		if err := j.Write(changes); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
		if j, err = Open(folder, quiet); err != nil {
			b.Fatal(err)
		}
		n := 0
		if err := j.Each(func(string, []byte) error { n++; return nil }); err != nil || n != live {
			b.Fatal(n, err)
		}
	}
	j.Close()
}
