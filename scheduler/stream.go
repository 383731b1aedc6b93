package scheduler

import "dodoor/internal/cluster"

// stream is the account of what this replica placed on one worker process: placements are numbered
// 1, 2, 3 ... and summed into the cumulative vector P. A number and its P say everything that is to
// know, so that messages may be repeated, lost or overtaken without harm.
type stream struct {
	number int64        // of the newest placement
	placed cluster.Load // P at number
	dirty  bool         // changed since the last delta that was handed out
	own    []ownPlacement
}

// ownPlacement is a placement that no snapshot has included yet. An entry may stand for several
// merged placements, the last of which has this number.
type ownPlacement struct {
	number int64
	load   cluster.Load
}

// ownLimit bounds the placements remembered for self-correction per worker. Beyond it the two oldest
// are merged; a snapshot that includes only the older one then leaves both in the view, which errs
// towards a busier node and only when snapshots have stopped coming.
const ownLimit = 256

// place accounts one placement and returns its number.
func (s *stream) place(l cluster.Load, remember bool) int64 {
	s.number++
	s.placed = s.placed.Add(l)
	if remember {
		if len(s.own) == ownLimit {
			s.own[1].load = s.own[1].load.Add(s.own[0].load)
			s.own = append(s.own[:0], s.own[1:]...)
		}
		s.own = append(s.own, ownPlacement{s.number, l})
	}
	return s.number
}

// forget drops the own placements up to number: whatever comes includes them.
func (s *stream) forget(number int64) {
	included := 0
	for included < len(s.own) && s.own[included].number <= number {
		included++
	}
	s.own = append(s.own[:0], s.own[included:]...)
}

// above returns the sum of the own placements after number.
func (s *stream) above(number int64) cluster.Load {
	var sum cluster.Load
	for i := range s.own {
		if s.own[i].number > number {
			sum = sum.Add(s.own[i].load)
		}
	}
	return sum
}
