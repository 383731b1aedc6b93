package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Print writes a summary for people. What must not be overlooked (tasks that did not finish,
// services that were not counted) comes last, where the eye is.
func (s *Summary) Print(w io.Writer) error {
	var b strings.Builder
	b.WriteString(s.headline() + "\n")
	b.WriteString(s.latencyTable() + "\n")
	b.WriteString(s.classTable() + "\n")
	fmt.Fprintf(&b, "throughput   %s tasks/s of trace time (%s s of trace, %s s on the wall)\n", figure(s.ThroughputPerS), figure(s.SpanS), figure(s.WallS))
	fmt.Fprintf(&b, "utilisation  cores %.1f %%, memory %.1f %%\n", 100*s.Utilisation.Cores, 100*s.Utilisation.Memory)
	fmt.Fprintf(&b, "messages     %.3f control messages per task, %.3f RPCs per task\n", s.ControlMessagesPerTask, s.RPCsPerTask)
	m := s.Messages
	fmt.Fprintf(&b, "             submit %d, probe %d, delta %d, push %d, confirm %d, cancel %d; enqueue %d, complete %d, report %d, collect %d\n",
		m.Submit, m.Probe, m.Delta, m.Push, m.Confirm, m.Cancel, m.Enqueue, m.Complete, m.Report, m.Collect)
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
	line := fmt.Sprintf("%s on %s: %s, %s, seed %d", s.Policy, s.On, s.Trace, rate, s.Seed)
	if s.TimeScale != 1 {
		line += fmt.Sprintf(", time scale %g", s.TimeScale)
	}
	return line
}

func (s *Summary) latencyTable() string {
	t := newTable(table.Row{"", "unit", "mean", "p50", "p95", "p99", "p99.9", "max"})
	for _, row := range []struct {
		name, unit string
		d          Distribution
	}{
		{"makespan", "s", s.MakespanS},
		{"queue wait", "s", s.QueueWaitS},
		{"run", "s", s.RunS},
		{"scheduling", "ms, wall", s.SchedulingMs},
		{"generator lag", "ms, wall", s.GeneratorLagMs},
	} {
		d := row.d
		t.AppendRow(table.Row{row.name, row.unit, figure(d.Mean), figure(d.P50), figure(d.P95), figure(d.P99), figure(d.P999), figure(d.Max)})
	}
	return t.Render()
}

func (s *Summary) classTable() string {
	t := newTable(table.Row{"node class", "", "tasks", "cores used"})
	names := make([]string, 0, len(s.PerClass))
	for name := range s.PerClass {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		c := s.PerClass[name]
		t.AppendRow(table.Row{name, "", c.Tasks, fmt.Sprintf("%.1f %%", 100*c.UtilisationCores)})
	}
	return t.Render()
}

// newTable aligns the first two columns left and figures right.
func newTable(header table.Row) table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(header)
	var columns []table.ColumnConfig
	for i := 3; i <= len(header); i++ {
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
		fmt.Fprintf(&b, "!!! NOT ALL TASKS FINISHED: %s (see outcome and reason in %s)\n", strings.Join(parts, ", "), tasksFile)
	}
	if len(s.CountersMissing) > 0 {
		fmt.Fprintf(&b, "!!! messages are incomplete: no counters from %s\n", strings.Join(s.CountersMissing, ", "))
	}
	return b.String()
}

// figure prints v with three decimals below 100 and fewer above: no digit that nobody reads.
func figure(v float64) string {
	switch {
	case v >= 10000 || v <= -10000:
		return fmt.Sprintf("%.0f", v)
	case v >= 100 || v <= -100:
		return fmt.Sprintf("%.1f", v)
	default:
		return fmt.Sprintf("%.3f", v)
	}
}
