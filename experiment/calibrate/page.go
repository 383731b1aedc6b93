package calibrate

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// Costs is what one request costs a service on this machine: the median round trip over loopback on one
// connection. It includes the kernel's part and the caller's, which the simulator does not know apart; the
// delay between services is then nothing. Requests are a pause apart, as in a replay: one that follows the
// last one at once finds everybody awake and takes a fifth of the time.
type Costs struct {
	Scheduler time.Duration `json:"scheduler_ns"`
	Data      time.Duration `json:"datastore_ns"`
	Worker    time.Duration `json:"worker_ns"`

	// Late is by how much the timer rings late that ends an emulated task, at the median. The simulator's
	// tasks end on time, so it is told to nobody; it explains what is left of a difference.
	Late time.Duration `json:"timer_late_ns"`
}

// Result is a whole calibration.
type Result struct {
	Tolerance float64 `json:"tolerance"` // of makespans, a share
	Costs     Costs   `json:"costs"`
	Cells     []Row   `json:"cells"`
}

// About is what the page says of its own making.
type About struct {
	Command string
	Machine string
	Took    time.Duration
}

const opening = `# The simulator against the real services

"make calibrate" writes this page; edit package experiment/calibrate instead. Every cell is run on real services on loopback and in the
simulator, several times, each time with another seed: both runs of a pair see the same arrivals, tasks and random draws, but not the
same microseconds. First the command measures what a request costs on this machine, and tells the simulator. Figures are means over the
seeds, makespans in trace time; Δ is sim/local − 1 in per cent, the mean over the pairs with its 95 %% interval (Student's *t*).

A figure **agrees** when the whole interval lies within the tolerance (±%g %% for makespans, ±%g %% for control messages), **differs**
when the whole interval lies beyond it, and is **undecided** otherwise, which more seeds may change. A cell agrees when all its figures
do, and differs when one does; only that fails the command. Scheduling latency, the median on the wall, is shown and not judged.

`

// Page writes the page in Markdown.
func (r *Result) Page(about About) string {
	var b strings.Builder
	fmt.Fprintf(&b, opening, 100*r.Tolerance, 100*sameMessages)
	fmt.Fprintf(&b, "* Command: `%s`\n* Machine: %s\n* Duration: %v\n", about.Command, about.Machine, about.Took.Round(time.Second))
	fmt.Fprintf(&b, "* One request: %s\n* Timers: %s\n\n", r.Costs.requests(), r.Costs.timers())
	fmt.Fprintf(&b, "%s\n\n%s.\n", r.table().RenderMarkdown(), r.verdicts())
	return b.String()
}

// Print writes the same for a terminal.
func (r *Result) Print(w io.Writer) error {
	t := r.table()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	_, err := fmt.Fprintf(w, `%s
makespans in trace time, scheduling latency (median) in wall time; Δ %% is sim/local - 1, mean of the pairs [95 %% interval, Student's t]
tolerance    %g %% for makespans, %g %% for control messages: %s
one request  %s
timers       %s
`, t.Render(), 100*r.Tolerance, 100*sameMessages, r.verdicts(), r.Costs.requests(), r.Costs.timers())
	return err
}

func (c *Costs) requests() string {
	return fmt.Sprintf("scheduler %v, data service %v, worker %v: median round trip over loopback, the simulator's costs; its delay is 0",
		c.Scheduler.Round(time.Microsecond), c.Data.Round(time.Microsecond), c.Worker.Round(time.Microsecond))
}

func (c *Costs) timers() string {
	return fmt.Sprintf("%v late at the median; the simulator's are on time", c.Late.Round(time.Microsecond))
}

// verdicts counts the cells by verdict.
func (r *Result) verdicts() string {
	count := map[Verdict]int{}
	for i := range r.Cells {
		count[r.Cells[i].Verdict]++
	}
	return fmt.Sprintf("of %d cells %d agree, %d differ, %d are undecided", len(r.Cells), count[Agrees], count[Differs], count[Undecided])
}

func (r *Result) table() table.Writer {
	t := table.NewWriter()
	t.AppendHeader(table.Row{"trace", "policy", "qps", "tasks", "scale", "seeds",
		"mean s", "sim", "Δ %", "P95 s", "sim", "Δ %", "sched ms", "sim", "ctl/task", "sim", "verdict"})
	var right []table.ColumnConfig
	for i := 3; i <= 16; i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for i := range r.Cells {
		c := &r.Cells[i]
		t.AppendRow(table.Row{filepath.Base(c.Trace), c.Policy, c.QPS, c.Tasks, c.TimeScale, c.Seeds,
			fmt.Sprintf("%.3f", c.Local.MakespanMeanS), fmt.Sprintf("%.3f", c.Sim.MakespanMeanS), percent(c.MakespanMean.Change),
			fmt.Sprintf("%.3f", c.Local.MakespanP95S), fmt.Sprintf("%.3f", c.Sim.MakespanP95S), percent(c.MakespanP95.Change),
			fmt.Sprintf("%.3f", c.Local.SchedulingP50Ms), fmt.Sprintf("%.3f", c.Sim.SchedulingP50Ms),
			fmt.Sprintf("%.3f", c.Local.ControlMessagesPerTask), fmt.Sprintf("%.3f", c.Sim.ControlMessagesPerTask), c.because()})
	}
	return t
}

// because is the verdict with the figures that it rests on.
func (r *Row) because() string {
	var which []string
	for _, d := range r.differences() {
		if r.Verdict != Agrees && d.Verdict == r.Verdict {
			which = append(which, d.short)
		}
	}
	if len(which) == 0 {
		return string(r.Verdict)
	}
	return fmt.Sprintf("%s: %s", r.Verdict, strings.Join(which, ", "))
}
