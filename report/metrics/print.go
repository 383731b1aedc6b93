package metrics

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"dodoor/internal/runfiles"

	"dodoor/report/stats"
)

// Print writes a summary for people. What must not be overlooked (tasks that did not finish,
// services that were not counted) comes last, where the eye is.
func (s *Summary) Print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(s.headline() + "\n")
	b.WriteString(s.latencyTable() + "\n")
	b.WriteString(s.classTable() + "\n")
	fmt.Fprintf(&b, "throughput   %.4g tasks/s of trace time (%.1f s of trace, %.1f s on the wall)\n", s.ThroughputPerS, s.SpanS, s.WallS)
	fmt.Fprintf(&b, "utilisation  cores %.1f %%, memory %.1f %%\n", 100*s.Utilisation.Cores, 100*s.Utilisation.Memory)
	if e := s.EstimateError; e.Mean > 0 {
		fmt.Fprintf(&b, "estimates    off by %.1f %% on average, p50 %.1f %%, p95 %.1f %%; bias %+.1f %%\n", 100*e.Mean, 100*e.P50, 100*e.P95,
			100*e.Bias)
	}
	fmt.Fprintf(&b, "messages     %.3f control messages per task, %.3f RPCs per task\n", s.ControlMessagesPerTask, s.RPCsPerTask)
	m := s.Messages
	fmt.Fprintf(&b, "             submit %d, probe %d, delta %d, push %d, cancel %d; enqueue %d, complete %d, report %d, collect %d\n",
		m.Submit, m.Probe, m.Delta, m.Push, m.Cancel, m.Enqueue, m.Complete, m.Report, m.Collect)
	fmt.Fprintf(&b, "view age     mean %.1f decisions, p95 %.0f\n", s.ViewAgeDecisions.Mean, s.ViewAgeDecisions.P95)
	fmt.Fprintf(&b, "tasks        %d of %d completed, %d retried\n", s.Completed, s.Tasks, s.Retried)
	b.WriteString(s.warnings())
	_, err := io.WriteString(w, b.String())
	return err
}

func (s *Summary) headline() string {
	rate := fmt.Sprintf("%g requests/s", s.QPS)
	if s.QPS == 0 {
		rate = "trace times"
	}
	if s.Burst > 1 {
		rate += fmt.Sprintf(" in bursts of %g times that", s.Burst)
	}
	line := fmt.Sprintf("%s on %s: %s, %s, seed %d", s.Policy, s.On, s.Trace, rate, s.Seed)
	if s.TimeScale != 1 {
		line += fmt.Sprintf(", time scale %g", s.TimeScale)
	}
	return line
}

func (s *Summary) latencyTable() string {
	t := newTable(2, table.Row{"", "unit", "mean", "p50", "p95", "p99", "p99.9", "max"})
	for _, row := range []struct {
		name, unit string
		d          stats.Distribution
	}{
		{"makespan", "s", s.MakespanS},
		{"queue wait", "s", s.QueueWaitS},
		{"run", "s", s.RunS},
		{"scheduling", "ms, wall", s.SchedulingMs},
		{"generator lag", "ms, wall", s.GeneratorLagMs},
	} {
		t.AppendRow(append(table.Row{row.name, row.unit}, cells(row.d)...))
	}
	if s.StartupMs != nil {
		t.AppendRow(append(table.Row{"start-up", "ms"}, cells(*s.StartupMs)...))
	}
	return t.Render()
}

func (s *Summary) classTable() string {
	t := newTable(1, table.Row{"node class", "tasks", "cores used"})
	for _, name := range slices.Sorted(maps.Keys(s.PerClass)) {
		c := s.PerClass[name]
		t.AppendRow(table.Row{name, c.Tasks, fmt.Sprintf("%.1f %%", 100*c.UtilisationCores)})
	}
	return t.Render()
}

// newTable aligns the first columns left and the others, which hold figures, right.
func newTable(left int, header table.Row) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for i := left + 1; i <= len(header); i++ {
		columns = append(columns, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(columns)
	return t
}

func (s *Summary) warnings() string {
	var parts []string
	for _, o := range []struct {
		n    int
		name string
	}{{s.Failed, "failed"}, {s.TimedOut, "timed out"}, {s.Cancelled, "were cancelled"}, {s.Lost, "were LOST"}} {
		if o.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", o.n, o.name))
		}
	}
	var b strings.Builder
	if len(parts) > 0 {
		fmt.Fprintf(&b, "!!! NOT ALL TASKS FINISHED: %s (see outcome and reason in %s)\n", strings.Join(parts, ", "), runfiles.Tasks)
	}
	if len(s.CountersMissing) > 0 {
		fmt.Fprintf(&b, "!!! messages are incomplete: no counters from %s\n", strings.Join(s.CountersMissing, ", "))
	}
	return b.String()
}

// cells prints a distribution with as many decimals as its largest value can bear, or as dashes when
// nothing was measured.
func cells(d stats.Distribution) []any {
	decimals := 3
	switch {
	case d.Max >= 10000:
		decimals = 0
	case d.Max >= 100:
		decimals = 1
	}
	var cells []any
	for _, v := range [...]float64{d.Mean, d.P50, d.P95, d.P99, d.P999, d.Max} {
		cell := fmt.Sprintf("%.*f", decimals, v)
		if d == (stats.Distribution{}) {
			cell = "-"
		}
		cells = append(cells, cell)
	}
	return cells
}
