package campaign

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"dodoor/sim"
)

// The prototype's faults, and the profile with its batches.
const (
	drifts    = sim.DurationDrift
	truncates = sim.TruncatedGaps
	asRun     = "paper-as-run"

	rerunAzure = 20  // QPS
	rerunBench = 400 // QPS
)

// contended is how much full nodes slow FunctionBench down: the value of contentions at which PoT's throughput is
// nearest to the authors'.
const contended = 0.2

var contentions = []float64{0, 0.1, 0.15, 0.2, 0.25, 0.3}

func quirks(names ...string) []string {
	if len(names) == 0 {
		return nil
	}
	return overrides("sim.quirks", "['"+strings.Join(names, "','")+"']")
}

// rerunCells are the authors' four runs: by the code of the prototype or clean, with its arrivals or ours.
type rerunCells struct{ o Options }

func (a rerunCells) machines(policy string, names ...string) Cell {
	c := machines(a.o, policy, rerunAzure).with(quirks(names...)...)
	c.Profile = asRun
	return c
}

func (a rerunCells) functions(policy string, contention float64, names ...string) Cell {
	c := functions(a.o, policy, rerunBench, paperTasks).with(quirks(names...)...).with(overrides("sim.interference", contention)...)
	c.Profile = asRun
	return c
}

// faults are the quirks of a policy's run: PoT reads no cache, so its durations do not drift.
func faults(policy string, others ...string) []string {
	if policy == "dodoor" {
		return append([]string{drifts}, others...)
	}
	return others
}

// figure is one published figure of the rerun with the setting that it came from.
type rerunFigure struct {
	trace, policy string
	tail          bool // P99 makespan, not throughput
	published     float64
	cell          func(contention float64, quirks ...string) Cell
}

func (f *rerunFigure) name() string {
	if f.tail {
		return "P99 makespan (s)"
	}
	return "throughput (tasks/s)"
}

// metric is the figure by a clock.
func (f *rerunFigure) metric(c Clock) Metric {
	rate, tail := byClock(c)
	if f.tail {
		return tail
	}
	return rate
}

// row is the figure with the prototype's fault and some of the authors' ways to measure.
func (f *rerunFigure) row(c Cell, clock Clock) Row {
	return Row{Labels: []string{f.trace, f.policy, f.name()}, Cell: c, Metric: f.metric(clock), Published: f.published}
}

// eight are the rerun's figures of throughput and tail.
func (a rerunCells) eight() (azure, bench []rerunFigure) {
	add := func(rows []rerunFigure, trace, policy string, rate, tail float64, cell func(float64, ...string) Cell) []rerunFigure {
		return append(rows, rerunFigure{trace, policy, false, rate, cell}, rerunFigure{trace, policy, true, tail, cell})
	}
	onAzure := func(policy string) func(float64, ...string) Cell {
		return func(_ float64, names ...string) Cell { return a.machines(policy, names...) }
	}
	onBench := func(policy string) func(float64, ...string) Cell {
		return func(contention float64, names ...string) Cell { return a.functions(policy, contention, names...) }
	}
	trace := fmt.Sprintf("Azure, QPS %d", rerunAzure)
	azure = add(nil, trace, "dodoor", rerunAzureRate, rerunAzureTail, onAzure("dodoor"))
	azure = add(azure, trace, "pot", rerunAzurePotRate, rerunAzurePotTail, onAzure("pot"))
	trace = fmt.Sprintf("FunctionBench, QPS %d", rerunBench)
	bench = add(nil, trace, "dodoor", rerunBenchRate, rerunBenchTail, onBench("dodoor"))
	bench = add(bench, trace, "pot", rerunBenchPotRate, rerunBenchPotTail, onBench("pot"))
	return azure, bench
}

// rerun is the authors' own rerun of their heaviest loads, with the batches, the fault and the clock of their
// prototype.
func rerun(o Options) Study {
	a := rerunCells{o}
	azure, bench := a.eight()
	all := slices.Concat(azure, bench)
	asTheirs := func(f *rerunFigure, contention float64) Row {
		return f.row(f.cell(contention, faults(f.policy, truncates)...), authorsClock)
	}

	main := &Table{Labels: []string{"experiment", "policy", "figure"}, Columns: slices.Concat(published(), cleanColumns())}
	for i := range all {
		f := &all[i]
		line := asTheirs(f, contended)
		if f.policy == "dodoor" {
			clean := f.cell(contended, truncates)
			line.Against = &clean
		}
		main.Rows = append(main.Rows, line)
	}
	within := func(r *Results, figures []rerunFigure, contention float64) int {
		near := 0
		for i := range figures {
			if line := asTheirs(&figures[i], contention); r.near(&line) {
				near++
			}
		}
		return near
	}
	share := func(figures []rerunFigure) func(r *Results) Judgement {
		return func(r *Results) Judgement {
			n := within(r, figures, contended)
			j := Judgement{fmt.Sprintf("%d of %d within %.0f %%", n, len(figures), 100*near), sameWay, unlike, neither}
			if n == len(figures) {
				j.Size = alike
			}
			return j
		}
	}
	fb := func(policy string) Cell { return a.functions(policy, contended, faults(policy, truncates)...) }
	vm := func(policy string) Cell { return a.machines(policy, faults(policy, truncates)...) }
	return Study{
		Name: "rerun", Title: "The authors' rerun, and one fault", Question: "Does a model of the prototype, faults included, give the " +
			"authors' figures?",
		Parts: []Part{
			{Text: fmt.Sprintf(`
The authors ran their heaviest loads again with their published scripts: 100 nodes, b = 50, b_Δ = 4 (profile `+"`paper-as-run`"+`).
Their prototype never resets the durations that a scheduler has gathered, and sends those of all nodes with every flush: each flush adds, on
every node, everything that the scheduler ever placed there again, until that node's next report. The simulator has this as the quirk
`+"`%s`"+`, applied to dodoor here; PoT reads no cache and does not have it. The column without it is the same run of clean code.

Four things are measured as the authors' scripts do: gaps between arrivals are whole milliseconds, rounded down (quirk `+"`%s`"+`);
throughput counts from the start of the run; the warm-up counts; percentiles are those of a uniform sample of %s tasks. How long
their services took to start is in their clock, too, and unknown.

Containers on one node share its memory bandwidth and pay for their start, so FunctionBench slows down on full nodes: sim.interference = %g,
**calibrated on one of these figures, PoT's throughput on FunctionBench**, and moving all four of FunctionBench. stress-ng holds its time
whatever the load, so Azure has no interference: only its four figures are predictions that no constant touches.`,
				drifts, truncates, exact(sampleSize), contended)},
			{Table: main, Says: func(r *Results) string {
				return fmt.Sprintf("Within %.0f %%: %d of the %d figures of Azure, which no constant touches, and %d of the %d of FunctionBench, "+
					"which one constant moves.",
					100*near, within(r, azure, contended), len(azure), within(r, bench, contended), len(bench))
			}},
			switches(all),
			contention(bench, asTheirs, within),
			{Text: "Messages are counted, not measured.", Table: &Table{Labels: []string{"experiment", "policy", "figure"}, Columns: published(),
				Rows: []Row{
					{Labels: []string{bench[0].trace, "dodoor", control.Head()}, Cell: fb("dodoor"), Metric: control, Published: rerunMessages},
					{Labels: []string{bench[0].trace, "pot", control.Head()}, Cell: fb("pot"), Metric: control, Published: rerunPotMessages},
				}}},
			{Text: `
Scheduling latency is no prediction: what a message costs is a setting here, the same for every policy, and nothing models what makes
the tails of a prototype on busy hosts.`,
				Table: &Table{Labels: []string{"experiment", "policy", "figure"}, Columns: published()[:2], Rows: slices.Concat(
					latencies(vm("dodoor"), azure[0].trace, "dodoor", rerunAzureLatency),
					latencies(vm("pot"), azure[0].trace, "pot", rerunAzurePotLatency),
					latencies(fb("dodoor"), bench[0].trace, "dodoor", rerunBenchLatency),
					latencies(fb("pot"), bench[0].trace, "pot", rerunBenchPotLatency))}},
		},
		Extra: []Cell{vm("prequal"), fb("prequal")},
		Claims: []Claim{
			{"Authors' rerun, Azure, throughput and P99, which no constant touches", fmt.Sprintf("%d figures", len(azure)), share(azure)},
			{"Authors' rerun, FunctionBench, throughput and P99, which one constant moves", fmt.Sprintf("%d figures", len(bench)), share(bench)},
			{"Azure: messages against PoT (b = 50, b_Δ = 4)", percent(publishedFewerThanPot) + " %",
				counted(pair{vm("dodoor"), vm("pot")}, control, publishedFewerThanPot)},
			{"Azure: messages against Prequal (b = 50, b_Δ = 4)", percent(publishedFewerThanPrequal) + " %",
				counted(pair{vm("dodoor"), vm("prequal")}, control, publishedFewerThanPrequal)},
			{"FunctionBench: messages against PoT (b = 50, b_Δ = 4)", "as on Azure",
				counted(pair{fb("dodoor"), fb("pot")}, control, publishedFewerThanPot)},
			{"FunctionBench: messages against Prequal (b = 50, b_Δ = 4)", "as on Azure",
				counted(pair{fb("dodoor"), fb("prequal")}, control, publishedFewerThanPrequal)},
		},
	}
}

// cleanColumns show a figure without the fault, and what the fault does to it.
func cleanColumns() []Column {
	return []Column{
		{"without the fault", func(r *Results, row *Row) string {
			if row.Against == nil {
				return "–"
			}
			return row.Metric.spread(r.estimate(*row.Against, row.Metric))
		}},
		{"what the fault does (%)", func(r *Results, row *Row) string {
			if row.Against == nil {
				return "–"
			}
			return changed(r.change(row.Cell, *row.Against, row.Metric))
		}},
	}
}

// switches tells what each difference of measurement does alone.
func switches(all []rerunFigure) Part {
	table := &Table{Labels: []string{"experiment", "policy", "figure"}}
	column := func(head string, clock Clock, names ...string) {
		table.Columns = append(table.Columns, Column{head, func(r *Results, row *Row) string {
			f := &all[slices.IndexFunc(all, func(f rerunFigure) bool { return slices.Equal([]string{f.trace, f.policy, f.name()}, row.Labels) })]
			if clock == (Clock{}) && len(names) == 0 {
				return row.Metric.spread(r.estimate(row.Cell, row.Metric))
			}
			other := f.cell(contended, faults(f.policy, names...)...)
			ours := r.mean(row.Cell, row.Metric)
			theirs := r.mean(other, f.metric(clock))
			if clock == (Clock{}) {
				theirs = r.mean(other, row.Metric)
			}
			return percent(theirs/ours - 1)
		}})
	}
	column("our clock", Clock{})
	column("whole ms (%)", Clock{}, truncates)
	column("from the start (%)", Clock{Start: true})
	column("warm-up (%)", Clock{Warmup: true})
	column(fmt.Sprintf("%s samples (%%)", exact(sampleSize)), Clock{Sampled: true})
	column("all (%)", authorsClock, truncates)
	for i := range all {
		f := &all[i]
		line := f.row(f.cell(contended, faults(f.policy)...), Clock{})
		line.Metric = throughput
		if f.tail {
			line.Metric = p99
		}
		table.Rows = append(table.Rows, line)
	}
	return Part{Text: "**What the clock does.** The same runs by this project's own clock, and what each of the authors' ways to measure " +
		"changes alone, and all of them together.",
		Table: table}
}

// contention shows the four figures that interference moves at other values of it.
func contention(bench []rerunFigure, asTheirs func(*rerunFigure, float64) Row, within func(*Results, []rerunFigure, float64) int) Part {
	table := &Table{Labels: []string{"sim.interference"}}
	of := func(row *Row) float64 {
		return contentions[slices.IndexFunc(contentions, func(v float64) bool { return exact(v) == row.Labels[0] })]
	}
	for i := range bench {
		f := &bench[i]
		table.Columns = append(table.Columns, Column{f.policy + ", " + f.name() + ", off by (%)", func(r *Results, row *Row) string {
			line := asTheirs(f, of(row))
			return percent(r.off(&line))
		}})
	}
	table.Columns = append(table.Columns, Column{fmt.Sprintf("within %.0f %%", 100*near), func(r *Results, row *Row) string {
		return fmt.Sprintf("%d of %d", within(r, bench, of(row)), len(bench))
	}})
	pot := &bench[2]
	for _, v := range contentions {
		dodoor, baseline := bench[0].cell(v, faults("dodoor", truncates)...), pot.cell(v, faults("pot", truncates)...)
		table.Rows = append(table.Rows, row(dodoor, &baseline, exact(v)))
	}
	return Part{Text: "**What the constant does.** FunctionBench with other values of it, everything else as above.", Table: table,
		Says: func(r *Results) string {
			nearest, off := 0.0, math.Inf(1)
			for _, v := range contentions {
				if line := asTheirs(pot, v); math.Abs(r.off(&line)) < off {
					nearest, off = v, math.Abs(r.off(&line))
				}
			}
			return fmt.Sprintf("Nearest on PoT's throughput: %g.", nearest)
		}}
}

func latencies(c Cell, trace, policy string, values []float64) []Row {
	var rows []Row
	for i, m := range []Metric{schedP50, schedP95, schedP99} {
		rows = append(rows, Row{Labels: []string{trace, policy, m.Head()}, Cell: c, Metric: m, Published: values[i]})
	}
	return rows
}
