// Package drive replays a workload against running schedulers and writes what became of every task.
package drive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/generator/rundir"
	"dodoor/generator/session"
	"dodoor/internal/cluster"
	"dodoor/internal/progress"
	"dodoor/internal/rpc"
)

// Target is one scheduler replica.
type Target = session.Target

// Config is one replay. Fields that are zero take the value in brackets.
type Config struct {
	Workload   *generator.Workload
	Schedulers []Target        // task i goes to scheduler i modulo their number, as long as that one lives
	Data       rpc.DataService // nil: no node samples, and no counters of the data service

	// Connect makes a connection to a scheduler that joins the cluster; it does not wait. The run then follows
	// the schedulers that Data lists. nil: Schedulers take the tasks, and nobody else does.
	Connect func(cluster.SchedulerRef) Target

	Client string // results are collected under this name; unique per run [made up]
	Dir    string // directory of the run; must not hold one yet
	Info   generator.RunInfo
	Warmup int // first tasks, marked in their rows

	Connections int  // submissions in flight per scheduler [8]
	Coalesce    bool // what waits for a busy scheduler travels in one message
	MaxBatch    int  // tasks in one message [128]

	Patience     time.Duration // how long no scheduler at all may answer [10 s]
	DrainTimeout time.Duration // wait for results after the run was stopped [30 s]
	Timeout      time.Duration // wait for results after the last submission [no limit]

	Verify   func(context.Context) error // of the cluster, before the run counts as one that ended [nothing]
	Progress io.Writer                   // a progress bar, if it is a terminal [none]
	Log      *slog.Logger                // [slog.Default]
}

// Result counts what became of the tasks. The outcomes add up to Tasks.
type Result struct {
	Tasks, Finished, Failed, TimedOut, Cancelled, Lost int

	NotSubmitted int // of Cancelled: the run was stopped before their time came
	Abandoned    int // of Lost: submitted, and the run ended before their result came
	Stopped      bool
	Elapsed      time.Duration
}

// Clean reports whether every task finished.
func (r Result) Clean() bool { return r.Finished == r.Tasks }

// Driver replays one workload, once.
type Driver struct {
	cfg   Config
	abort chan struct{}
	once  sync.Once
}

// New validates cfg.
func New(cfg Config) (*Driver, error) {
	if cfg.Workload == nil || cfg.Workload.Len() == 0 {
		return nil, errors.New("generator: there is nothing to replay")
	}
	if len(cfg.Schedulers) == 0 {
		return nil, errors.New("generator: no schedulers to submit to")
	}
	if cfg.Dir == "" {
		return nil, errors.New("generator: no directory for the rows")
	}
	if cfg.Warmup < 0 {
		return nil, fmt.Errorf("generator: warm-up is %d tasks: it cannot be negative", cfg.Warmup)
	}
	if cfg.Connect != nil && cfg.Data == nil {
		return nil, errors.New("generator: no data service to say which schedulers join and leave")
	}
	names, addresses := map[string]bool{}, map[string]bool{}
	for _, s := range cfg.Schedulers {
		if s.Service == nil || s.Name == "" || names[s.Name] {
			return nil, fmt.Errorf("generator: scheduler %q: every scheduler needs a connection and a name of its own", s.Name)
		}
		if cfg.Connect != nil && (s.Address == "" || addresses[s.Address]) {
			return nil, fmt.Errorf("generator: scheduler %q at %q: one that is followed needs an address of its own", s.Name, s.Address)
		}
		names[s.Name], addresses[s.Address] = true, true
	}
	if cfg.Client == "" {
		cfg.Client = fmt.Sprintf("generator-%d", time.Now().UnixNano())
	}
	cfg.Log = cmp.Or(cfg.Log, slog.Default())
	if !cfg.Coalesce {
		cfg.MaxBatch = 1
	}
	cfg.Connections = cmp.Or(cfg.Connections, 8)
	cfg.MaxBatch = cmp.Or(cfg.MaxBatch, 128)
	return &Driver{cfg: cfg, abort: make(chan struct{})}, nil
}

// Close ends a run at once: what is in flight is abandoned, with a row that says so.
func (d *Driver) Close() { d.once.Do(func() { close(d.abort) }) }

// Run replays the workload and returns when every task has its row on disk. When ctx ends, it stops
// submitting, waits up to DrainTimeout for what is in flight, and counts the rest in its result,
// which is not an error. An error means that the run could not begin, its rows not be written, or that Verify failed:
// then the description does not say that it ended.
func (d *Driver) Run(ctx context.Context) (Result, error) {
	info := d.cfg.Info.Of(d.cfg.Workload, d.cfg.Warmup, len(d.cfg.Schedulers))
	if err := d.before(ctx, &info); err != nil {
		return Result{}, err
	}
	dir, err := rundir.Create(d.cfg.Dir)
	if err != nil {
		return Result{}, err
	}
	info.Started = time.Now()
	r := newRun(&d.cfg, dir, &info, progress.New(d.cfg.Progress, info.Tasks))
	err = dir.WriteInfo(&info)
	if err == nil {
		err = r.play(ctx, d.abort)
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return r.result, err
	}
	d.after(&info, r.session.Present())
	if d.cfg.Verify != nil {
		if err := d.cfg.Verify(context.WithoutCancel(ctx)); err != nil {
			return r.result, fmt.Errorf("the run does not count: %w", err)
		}
	}
	ended := time.Now()
	info.Ended, info.Stopped = &ended, r.result.Stopped
	r.result.Elapsed = ended.Sub(info.Started)
	return r.result, dir.WriteInfo(&info)
}

// askTimeout bounds the questions around a run, which no task waits for.
const askTimeout = 5 * time.Second

// before reads every counter. A run whose schedulers do not answer at all does not begin.
func (d *Driver) before(ctx context.Context, info *generator.RunInfo) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err := d.counters(ctx, &info.Before, d.cfg.Schedulers)
	if len(info.Before.Schedulers) == 0 {
		return fmt.Errorf("no scheduler answers: %w", err)
	}
	if err != nil {
		d.cfg.Log.Warn("not every service answers; its messages are not counted", "error", err)
	}
	if d.cfg.Data == nil {
		return nil
	}
	status, err := d.cfg.Data.Status(ctx)
	if err != nil {
		d.cfg.Log.Warn("the data service does not answer: the run has no node samples", "error", err)
		return nil
	}
	info.DecisionsBefore = status.Decisions
	if len(info.Classes) == 0 {
		nodes := make([]cluster.Node, len(status.Nodes))
		for i := range nodes {
			nodes[i] = status.Nodes[i].Node
		}
		info.Classes = generator.ClassesOf(nodes)
	}
	return nil
}

// after reads the counters of those that are still there.
func (d *Driver) after(info *generator.RunInfo, schedulers []Target) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := d.counters(ctx, &info.After, schedulers); err != nil {
		d.cfg.Log.Warn("not every service answers any more; its messages are not counted", "error", err)
	}
}

// counters asks the data service and some schedulers; the error joins those that did not answer.
func (d *Driver) counters(ctx context.Context, c *generator.Counters, schedulers []Target) error {
	var failures []error
	for _, s := range schedulers {
		counts, err := s.Service.Counters(ctx)
		if err != nil {
			failures = append(failures, fmt.Errorf("scheduler %s: %w", s.Name, err))
			continue
		}
		c.Schedulers[s.Name] = counts
	}
	if d.cfg.Data != nil {
		counts, err := d.cfg.Data.Counters(ctx)
		if err != nil {
			failures = append(failures, fmt.Errorf("data service: %w", err))
		}
		c.Data = counts
	}
	return errors.Join(failures...)
}
