package rpc

import (
	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// experience encodes what was seen; in a delta all of it is the sender's.
func (e encoder) experience(seen []cluster.Experience, named bool) []*dodoor.Experience {
	if len(seen) == 0 {
		return nil
	}
	messages := make([]*dodoor.Experience, len(seen))
	for i := range seen {
		x := &seen[i]
		w := &dodoor.Experience{Name: &x.Name, NodeClass: &x.Class, Number: &x.Number, Count: &x.Count,
			RunsMs: make([]int64, len(x.Runs)), Stamps: make([]int64, len(x.Runs)), OffPermille: &x.Off}
		if named {
			w.Scheduler, w.Incarnation = &x.Scheduler, &x.Incarnation
		}
		for j, run := range x.Runs {
			w.RunsMs[j], w.Stamps[j] = run.Took, run.At
			if j > 0 {
				w.Stamps[j] = x.Runs[j-1].At - run.At
			}
		}
		if x.Cores > 0 {
			w.Millicores = &x.Cores
		}
		if x.Memory > 0 {
			w.MemoryMib = &x.Memory
		}
		if x.SteadyRuns > 0 {
			w.SteadyLog, w.SteadyRuns = narrow(x.SteadyLog), narrow(x.SteadyRuns)
		}
		messages[i] = w
	}
	return messages
}

func (d *decoder) experience(w []*dodoor.Experience, named bool) []cluster.Experience {
	if d.length("experience", len(w), maxItems) == 0 {
		return nil
	}
	seen := make([]cluster.Experience, len(w))
	for i, m := range w {
		d.enter("experience", i)
		x := cluster.Experience{Name: d.learnedName("name", m.Name), Class: d.name("node_class", m.NodeClass),
			Number: d.between("number", m.Number, 1, cluster.MaxStamp), Count: d.between("count", m.Count, 0, cluster.MaxStamp),
			Off: d.between("off_permille", m.OffPermille, 0, cluster.MaxMiss), Cores: d.known("millicores", m.Millicores),
			Memory: d.known("memory_mib", m.MemoryMib), Runs: d.runs(m.RunsMs, m.Stamps)}
		if m.SteadyRuns != nil {
			x.SteadyRuns = int64(d.int32("steady_runs", m.SteadyRuns, 1, cluster.MaxSteady))
			x.SteadyLog = int64(d.int32("steady_log", m.SteadyLog, 0, cluster.MaxLog))
		}
		if named {
			x.Scheduler, x.Incarnation = d.name("scheduler", m.Scheduler), d.incarnation("incarnation", m.Incarnation)
		}
		seen[i] = x
		d.leave()
	}
	return seen
}

// learnedName returns the name of something that is learned of.
func (d *decoder) learnedName(field string, v *string) string {
	name := d.name(field, v)
	if len(name) > cluster.MaxLearned {
		d.fail(field, "has %d bytes: at most %d are allowed", len(name), cluster.MaxLearned)
	}
	return name
}

// known returns an amount that may be absent; 0 is not known.
func (d *decoder) known(field string, v *int64) int64 {
	if v == nil {
		return 0
	}
	return d.between(field, v, 0, cluster.MaxAmount)
}

// runs decodes run times and when they were seen, the newest first.
func (d *decoder) runs(took, stamps []int64) []cluster.Run {
	d.length("runs_ms", len(took), cluster.MaxRuns)
	if len(stamps) != len(took) {
		d.fail("stamps", "has %d entries: must have %d, as runs_ms has", len(stamps), len(took))
	}
	if d.err != nil || len(took) == 0 {
		return nil
	}
	runs, at, step := make([]cluster.Run, len(took)), int64(cluster.MaxStamp), int64(0)
	for i := range runs {
		if step = d.between("stamps", &stamps[i], 0, at); i == 0 {
			at = step
		} else {
			at -= step
		}
		runs[i] = cluster.Run{Took: d.between("runs_ms", &took[i], 1, cluster.MaxDuration), At: at}
	}
	return runs
}

func (e encoder) estimateQuery(q *cluster.EstimateQuery) *dodoor.EstimateQuery {
	return &dodoor.EstimateQuery{Name: optional(&q.Name), Max: narrow(int64(q.Max))}
}

func (d *decoder) estimateQuery(w *dodoor.EstimateQuery) (q cluster.EstimateQuery) {
	if w == nil {
		d.missing("query")
		return q
	}
	return cluster.EstimateQuery{Name: d.optionalName("name", w.Name), Max: d.int32("max", w.Max, 0, cluster.MaxEstimate)}
}

func (e encoder) estimates(list []cluster.Estimate) []*dodoor.Estimate {
	messages := make([]*dodoor.Estimate, len(list))
	for i := range list {
		x := &list[i]
		rule := dodoor.EstimateRule(x.Rule)
		messages[i] = &dodoor.Estimate{Name: &x.Name, NodeClass: &x.Class, DurationMs: &x.Duration, Rule: &rule, Count: &x.Count,
			MedianMs: &x.Median, P95Ms: &x.P95, OffPermille: &x.Off}
		if x.Cores > 0 {
			messages[i].Millicores = &x.Cores
		}
		if x.Memory > 0 {
			messages[i].MemoryMib = &x.Memory
		}
	}
	return messages
}

func (d *decoder) estimates(w []*dodoor.Estimate) []cluster.Estimate {
	if d.length("estimates", len(w), cluster.MaxEstimate) == 0 {
		return nil
	}
	list := make([]cluster.Estimate, len(w))
	for i, m := range w {
		d.enter("estimates", i)
		list[i] = cluster.Estimate{Name: d.learnedName("name", m.Name), Class: d.name("node_class", m.NodeClass),
			Duration: d.between("duration_ms", m.DurationMs, 0, cluster.MaxDuration), Rule: enum(d, "rule", m.Rule, cluster.DefaultRule),
			Count: d.count("count", m.Count), Median: d.between("median_ms", m.MedianMs, 0, cluster.MaxDuration),
			P95: d.between("p95_ms", m.P95Ms, 0, cluster.MaxDuration), Off: d.between("off_permille", m.OffPermille, 0, cluster.MaxMiss),
			Cores: d.known("millicores", m.Millicores), Memory: d.known("memory_mib", m.MemoryMib)}
		d.leave()
	}
	return list
}
