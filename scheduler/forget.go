package scheduler

import "slices"

// bound forgets what is over its bounds, of the names that were used longest ago first. Own entries do not make room for those
// of others, nor the other way round, and names with open tasks go only if nothing else is left.
func (x *experience) bound() {
	for _, busy := range []bool{false, true} {
		for n := x.oldest; n != nil && (x.own > ownEntries || x.foreign > foreignEntries); {
			newer := n.newer
			if busy || n.tasks == 0 {
				x.lose(n, x.own > ownEntries, x.foreign > foreignEntries)
			}
			n = newer
		}
	}
	if len(x.changed) > 2*ownEntries {
		x.changed = slices.DeleteFunc(x.changed, func(s *seen) bool { return !s.own.waits })
	}
}

// lose drops the own entries of a name, or those of others, or all.
func (x *experience) lose(n *named, own, foreign bool) {
	for class, on := range n.classes {
		if on == nil {
			continue
		}
		before := len(on.entries)
		on.entries = slices.DeleteFunc(on.entries, func(s *seen) bool {
			switch {
			case s.own != nil && own:
				s.own.waits = false
				x.own--
			case s.own == nil && foreign:
				x.foreign--
			default:
				return false
			}
			return true
		})
		if n.entries -= before - len(on.entries); len(on.entries) == 0 {
			n.classes[class] = nil
		}
	}
	n.said = slices.DeleteFunc(n.said, func(s said) bool { return s.scheduler == x.writer && own || s.scheduler != x.writer && foreign })
	if own {
		n.own = nil
	}
	if n.entries > 0 {
		x.refreshAll(n)
		return
	}
	x.unlink(n)
	n.classes, n.said, n.own = nil, nil, nil
	clear(n.learned.Durations)
	x.drop(n)
}
