package cluster

// Load is what a set of uncompleted (queued and running) tasks adds up to on one node:
// L, N, D and W. Sums are exact integers; cumulative sums may wrap around, their differences do not.
type Load struct {
	Demand   Resources // L: sum of demands
	Tasks    int64     // N: number of tasks
	Duration int64     // D: sum of estimated durations, milliseconds
	Work     int64     // W: sum of millicores x milliseconds
}

// LoadOf returns what one task of the given shape adds.
func LoadOf(s Shape) Load {
	return Load{Demand: s.Demand, Tasks: 1, Duration: s.Duration, Work: s.Demand[Cores] * s.Duration}
}

// Add returns l + o.
func (l Load) Add(o Load) Load {
	return Load{l.Demand.Add(o.Demand), l.Tasks + o.Tasks, l.Duration + o.Duration, l.Work + o.Work}
}

// Sub returns l - o.
func (l Load) Sub(o Load) Load {
	return Load{l.Demand.Sub(o.Demand), l.Tasks - o.Tasks, l.Duration - o.Duration, l.Work - o.Work}
}

// Times returns l so many times.
func (l Load) Times(n int64) Load {
	for k := range l.Demand {
		l.Demand[k] *= n
	}
	l.Tasks, l.Duration, l.Work = l.Tasks*n, l.Duration*n, l.Work*n
	return l
}

// AtLeastZero returns l with nothing below zero.
func (l Load) AtLeastZero() Load {
	for k := range l.Demand {
		l.Demand[k] = max(l.Demand[k], 0)
	}
	l.Tasks, l.Duration, l.Work = max(l.Tasks, 0), max(l.Duration, 0), max(l.Work, 0)
	return l
}

// IsZero reports whether l is exactly nothing.
func (l *Load) IsZero() bool { return *l == Load{} }
