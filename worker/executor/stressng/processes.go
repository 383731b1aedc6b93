package stressng

import (
	"slices"
	"strings"

	"dodoor/internal/procfs"
)

// processes follows a running stress-ng and its descendants.
type processes struct {
	*procfs.Usage
	root      int
	workers   []int // the processes that use the CPU
	stressors []int // direct children that were seen to do stress-ng's work
	lost      bool  // a stressor is gone
}

// What stress-ng calls its processes once they work.
const (
	stressorName = "stress-ng-"
	workerName   = stressorName + "cpu"
)

func follow(root int) *processes { return &processes{Usage: procfs.NewUsage(root), root: root} }

// sample looks at every process once.
func (p *processes) sample() {
	p.workers = slices.DeleteFunc(p.Sample(), func(pid int) bool { return procfs.Name(pid) != workerName })
	direct, err := procfs.Children(p.root)
	if err != nil {
		return
	}
	for _, pid := range p.stressors {
		p.lost = p.lost || !slices.Contains(direct, pid)
	}
	for _, pid := range direct {
		if !slices.Contains(p.stressors, pid) && strings.HasPrefix(procfs.Name(pid), stressorName) {
			p.stressors = append(p.stressors, pid)
		}
	}
}
