package journal

import (
	"fmt"
	"testing"
)

// To forget one of many jobs is to look at its own keys.
func TestAPrefixCostsWhatItDrops(t *testing.T) {
	const jobs, tasks = 1000, 3
	p := newPlaces()
	job := func(i int) string { return fmt.Sprintf("e7 job%04d", i) }
	for i := range jobs {
		p.put(fmt.Sprintf("tjob%04d.0", i), place{size: 1})
		for k := range tasks {
			p.put(job(i)+fmt.Sprintf("\x00\x00\x00\x00\x00\x00\x00%c", k), place{size: 1})
		}
	}
	looked := 0
	for m := range p.near(job(500)) {
		looked += len(m)
	}
	if looked != tasks {
		t.Errorf("%d keys are looked at to drop %d of %d", looked, tasks, p.count)
	}
	for i := range jobs {
		p.dropAll(job(i))
	}
	if p.count != jobs || p.live != jobs || len(p.families) != 0 {
		t.Errorf("%d keys, %d bytes and %d families are left: want %d, %d and none", p.count, p.live, len(p.families), jobs, jobs)
	}
}
