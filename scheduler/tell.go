package scheduler

import (
	"slices"
	"strings"

	"dodoor/internal/cluster"
)

// tell lists what is known, and what is expected on classes that others of the name were seen on.
func (x *experience) tell(q *cluster.EstimateQuery) []cluster.Estimate {
	var names []*named
	for n := x.newest; n != nil; n = n.older {
		if strings.Contains(n.name, q.Name) {
			names = append(names, n)
		}
	}
	slices.SortFunc(names, func(a, b *named) int { return strings.Compare(a.name, b.name) })
	var classes []cluster.ClassID
	for class := range x.classes.names {
		classes = append(classes, cluster.ClassID(class))
	}
	slices.SortFunc(classes, func(a, b cluster.ClassID) int { return strings.Compare(x.classes.ClassName(a), x.classes.ClassName(b)) })
	var list []cluster.Estimate
	for _, n := range names {
		for _, class := range classes {
			if len(list) == q.Max {
				return list
			}
			list = append(list, x.estimate(n, class))
		}
	}
	return list
}

func (x *experience) estimate(n *named, class cluster.ClassID) cluster.Estimate {
	e := cluster.Estimate{Name: n.name, Class: x.classes.ClassName(class)}
	e.Cores, e.Memory = n.needs()
	if e.Duration, e.Rule = x.rule(n, class); e.Rule == cluster.ProfileRule {
		e.Duration = x.prior(n, class)
	} else if e.Rule == cluster.DefaultRule {
		e.Duration = x.otherwise
	}
	if int(class) >= len(n.classes) || n.classes[class] == nil {
		return e
	}
	on := n.classes[class]
	e.Count, e.Median = on.count, on.median
	if runs := x.newest32(on); len(runs) > 0 {
		slices.Sort(runs)
		e.P95 = percentile95(runs)
	}
	var weight int64
	for _, s := range on.entries {
		e.Off += s.Off * s.Count
		weight += s.Count
	}
	e.Off /= max(weight, 1)
	return e
}
