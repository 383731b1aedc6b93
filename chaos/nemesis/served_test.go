package nemesis

import (
	"errors"
	"fmt"
	"time"

	"dodoor/chaos"
)

// served fails when a task began before one that had come to the same process of a worker earlier. When a task came, its ledger does
// not say: it is what its record says that it waited, before it began. And it may have begun before its program noted that: by as
// much, at most, as its record says that it ran longer than its program noted.
func served(h chaos.History) error {
	type came struct {
		task            string
		earliest, start time.Duration // it came, and began, then at the earliest
		late            time.Duration // both, at most
	}
	type process struct {
		worker string
		number int64
	}
	lines := map[process][]came{}
	for i := range h {
		x := &h[i]
		if x.Kind != chaos.Executed || x.Outcome == "" {
			continue
		}
		if c := resultOf(h, x); c != nil {
			at, late := process{x.Worker, x.Process}, max(0, c.Run-(x.End-x.Start))+grain
			lines[at] = append(lines[at], came{x.Task, x.Start - late - c.Wait, x.Start - late, late})
		}
	}
	var found []error
	for at, line := range lines {
		for _, early := range line {
			for _, late := range line {
				if early.earliest+early.late < late.earliest && early.start > late.start+late.late {
					found = append(found, fmt.Errorf("first come, first served: %s process %d began task %s at %v, which had come at %v, after "+
						"task %s, at %v, which had come at %v", at.worker, at.number, early.task, early.start, early.earliest, late.task, late.start,
						late.earliest))
				}
			}
		}
	}
	return errors.Join(found...)
}

// grain is of the times of records and of ledgers, generously.
const grain = 5 * time.Millisecond

// resultOf is the result of an execution; nil: nobody collected it, or it may be another's, as where a task ran twice.
func resultOf(h chaos.History, x *chaos.Record) (result *chaos.Record) {
	fits := func(x, c *chaos.Record) bool {
		return x.Kind == chaos.Executed && x.Outcome != "" && c.Kind == chaos.Collected && c.Task == x.Task && c.Worker == x.Worker &&
			c.At >= x.End && ranSo(x, c, h.Slack())
	}
	for i := range h {
		if !fits(x, &h[i]) {
			continue
		}
		if result != nil {
			return nil
		}
		result = &h[i]
	}
	for i := range h {
		if other := &h[i]; result != nil && other != x && fits(other, result) {
			return nil
		}
	}
	return result
}

// ranSo reports whether a result may be that of an execution.
func ranSo(x, result *chaos.Record, slack time.Duration) bool {
	took := x.End - x.Start
	return took <= result.Run+time.Millisecond && result.Run <= took+slack
}
