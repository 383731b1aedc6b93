package report

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Comparison is one policy at one rate against a baseline: means over the seeds, and paired changes.
type Comparison struct {
	Policy     string  `json:"policy"`
	QPS        float64 `json:"qps"`
	Runs       int     `json:"runs"`
	Incomplete int     `json:"incomplete"` // runs in which a task did not finish

	ThroughputPerS         float64 `json:"throughput_per_s"`
	MakespanMeanS          float64 `json:"makespan_mean_s"`
	MakespanP50S           float64 `json:"makespan_p50_s"`
	MakespanP95S           float64 `json:"makespan_p95_s"`
	MakespanP99S           float64 `json:"makespan_p99_s"`
	QueueWaitMeanS         float64 `json:"queue_wait_mean_s"`
	SchedulingMeanMs       float64 `json:"scheduling_mean_ms"`
	SchedulingP95Ms        float64 `json:"scheduling_p95_ms"`
	ControlMessagesPerTask float64 `json:"control_messages_per_task"`
	RPCsPerTask            float64 `json:"rpcs_per_task"`

	Throughput Change `json:"throughput_change"`
	Mean       Change `json:"makespan_mean_change"`
	P95        Change `json:"makespan_p95_change"`
}

// Compare folds the summaries of runs that differ in policy, rate and seed. Runs are paired by seed.
func Compare(runs []*Summary, baseline string) []Comparison {
	type key struct {
		qps    float64
		policy string
	}
	groups := map[key][]*Summary{}
	var order []key
	for _, s := range runs {
		k := key{s.QPS, s.Policy}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], s)
	}
	slices.SortStableFunc(order, func(a, b key) int { return compareFloat(a.qps, b.qps) })
	var all []Comparison
	for _, k := range order {
		c := average(groups[k])
		c.Throughput = paired(groups[k], groups[key{k.qps, baseline}], func(s *Summary) float64 { return s.ThroughputPerS })
		c.Mean = paired(groups[k], groups[key{k.qps, baseline}], func(s *Summary) float64 { return s.MakespanS.Mean })
		c.P95 = paired(groups[k], groups[key{k.qps, baseline}], func(s *Summary) float64 { return s.MakespanS.P95 })
		all = append(all, c)
	}
	return all
}

func compareFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func average(runs []*Summary) Comparison {
	c := Comparison{Policy: runs[0].Policy, QPS: runs[0].QPS, Runs: len(runs)}
	over := func(of func(s *Summary) float64) float64 {
		var values []float64
		for _, s := range runs {
			values = append(values, of(s))
		}
		return mean(values)
	}
	for _, s := range runs {
		if s.Completed != s.Tasks {
			c.Incomplete++
		}
	}
	c.ThroughputPerS = over(func(s *Summary) float64 { return s.ThroughputPerS })
	c.MakespanMeanS = over(func(s *Summary) float64 { return s.MakespanS.Mean })
	c.MakespanP50S = over(func(s *Summary) float64 { return s.MakespanS.P50 })
	c.MakespanP95S = over(func(s *Summary) float64 { return s.MakespanS.P95 })
	c.MakespanP99S = over(func(s *Summary) float64 { return s.MakespanS.P99 })
	c.QueueWaitMeanS = over(func(s *Summary) float64 { return s.QueueWaitS.Mean })
	c.SchedulingMeanMs = over(func(s *Summary) float64 { return s.SchedulingMs.Mean })
	c.SchedulingP95Ms = over(func(s *Summary) float64 { return s.SchedulingMs.P95 })
	c.ControlMessagesPerTask = over(func(s *Summary) float64 { return s.ControlMessagesPerTask })
	c.RPCsPerTask = over(func(s *Summary) float64 { return s.RPCsPerTask })
	return c
}

// paired lines runs up by seed.
func paired(runs, baseline []*Summary, of func(s *Summary) float64) Change {
	bySeed := map[uint64]float64{}
	for _, s := range baseline {
		bySeed[s.Seed] = of(s)
	}
	var values, base []float64
	for _, s := range runs {
		if b, ok := bySeed[s.Seed]; ok {
			values, base = append(values, of(s)), append(base, b)
		}
	}
	return PairedChange(values, base)
}

// PrintComparison writes one table: policy × rate with the change against the baseline. A change that is
// not significant at 95 % carries a tilde.
func PrintComparison(w io.Writer, rows []Comparison, baseline string) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"qps", "policy", "tasks/s", "mean s", "p50 s", "p95 s", "p99 s", "wait s", "sched ms", "p95 ms", "ctl/task", "rpc/task",
		"Δ tasks/s", "Δ mean", "Δ p95"})
	var right []table.ColumnConfig
	for i := 3; i <= 15; i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	last := math.NaN()
	incomplete := 0
	for _, c := range rows {
		if c.QPS != last && !math.IsNaN(last) {
			t.AppendSeparator()
		}
		last = c.QPS
		name := c.Policy
		if c.Incomplete > 0 {
			name += " INCOMPLETE"
			incomplete += c.Incomplete
		}
		t.AppendRow(table.Row{fmt.Sprintf("%g", c.QPS), name, f3(c.ThroughputPerS), f3(c.MakespanMeanS), f3(c.MakespanP50S), f3(c.MakespanP95S), f3(c.MakespanP99S),
			f3(c.QueueWaitMeanS), f3(c.SchedulingMeanMs), f3(c.SchedulingP95Ms), fmt.Sprintf("%.3f", c.ControlMessagesPerTask), fmt.Sprintf("%.2f", c.RPCsPerTask),
			changeText(c, c.Throughput, baseline), changeText(c, c.Mean, baseline), changeText(c, c.P95, baseline)})
	}
	if _, err := fmt.Fprintln(w, t.Render()); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "makespan and waits in trace time, scheduling latency in wall time; Δ against %s, mean of paired runs [95 %% bootstrap interval]; ~ not significant\n", baseline)
	if err == nil && incomplete > 0 {
		_, err = fmt.Fprintf(w, "!!! %d RUNS ARE INCOMPLETE: tasks were lost or failed, their figures cannot be compared\n", incomplete)
	}
	return err
}

func f3(v float64) string { return fmt.Sprintf("%.3g", v) }

func changeText(c Comparison, d Change, baseline string) string {
	switch {
	case c.Policy == baseline:
		return "-"
	case d.Pairs == 0:
		return "no pair"
	case d.Pairs == 1:
		return fmt.Sprintf("%+.1f %% (one pair)", 100*d.Mean)
	}
	mark := " "
	if !d.Significant() {
		mark = "~"
	}
	return fmt.Sprintf("%s%+.1f %% [%+.1f, %+.1f]", mark, 100*d.Mean, 100*d.Low, 100*d.High)
}
