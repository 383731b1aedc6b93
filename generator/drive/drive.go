// Package drive replays a workload against running schedulers and writes what became of every task.
package drive

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
)

// Target is one scheduler replica.
type Target struct {
	Name    string // for rows and counters; unique
	Service rpc.Scheduler
}

// Config is one replay. Fields that are zero take the value in brackets.
type Config struct {
	Workload   *generator.Workload
	Schedulers []Target        // task i goes to scheduler i modulo their number, as long as that one lives
	Data       rpc.DataService // nil: no node samples, and no counters of the data service
	Client     string          // results are collected under this name; unique per run [made up]
	Dir        string          // directory of the run; must not hold one yet
	Info       generator.RunInfo
	Warmup     int // first tasks, marked in their rows

	Connections int  // submissions in flight per scheduler [8]
	Coalesce    bool // what waits for a busy scheduler travels in one message
	MaxBatch    int  // tasks in one message [128]

	Patience     time.Duration // how long no scheduler at all may answer [10 s]
	DrainTimeout time.Duration // wait for results after the run was stopped [30 s]
	Timeout      time.Duration // wait for results after the last submission [no limit]
	SampleEvery  time.Duration // between two looks at the nodes [1 s]

	Progress *os.File     // a progress bar, if it is a terminal [none]
	Log      *slog.Logger // [slog.Default]
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
	names := map[string]bool{}
	for _, s := range cfg.Schedulers {
		if s.Service == nil || s.Name == "" || names[s.Name] {
			return nil, fmt.Errorf("generator: scheduler %q: every scheduler needs a connection and a name of its own", s.Name)
		}
		names[s.Name] = true
	}
	if cfg.Client == "" {
		cfg.Client = fmt.Sprintf("generator-%d", time.Now().UnixNano())
	}
	if cfg.Log == nil {
		cfg.Log = slog.Default()
	}
	if !cfg.Coalesce {
		cfg.MaxBatch = 1
	}
	orDefault(&cfg.Connections, 8)
	orDefault(&cfg.MaxBatch, 128)
	orDefault(&cfg.Patience, 10*time.Second)
	orDefault(&cfg.DrainTimeout, 30*time.Second)
	orDefault(&cfg.SampleEvery, time.Second)
	return &Driver{cfg: cfg, abort: make(chan struct{})}, nil
}

func orDefault[T int | time.Duration](field *T, value T) {
	if *field <= 0 {
		*field = value
	}
}

// Close ends a run at once: what is in flight is abandoned, with a row that says so.
func (d *Driver) Close() { d.once.Do(func() { close(d.abort) }) }

// Run replays the workload and returns when every task has its row on disk. When ctx ends, it stops
// submitting, waits up to DrainTimeout for what is in flight, and counts the rest in its result,
// which is not an error. An error means that the run could not begin or its rows not be written.
func (d *Driver) Run(ctx context.Context) (Result, error) {
	info := d.describe()
	if err := d.before(ctx, &info); err != nil {
		return Result{}, err
	}
	dir, err := CreateRunDir(d.cfg.Dir)
	if err != nil {
		return Result{}, err
	}
	info.Started = time.Now()
	r := newRun(&d.cfg, dir, info.Started, NewProgress(d.cfg.Progress, info.Tasks))
	err = dir.WriteInfo(&info)
	if err == nil {
		err = r.play(ctx, d.abort)
	}
	if err = errors.Join(err, dir.Close()); err != nil {
		return r.result, err
	}
	d.after(&info)
	ended := time.Now()
	info.Ended, info.Stopped = &ended, r.result.Stopped
	r.result.Elapsed = ended.Sub(info.Started)
	return r.result, dir.WriteInfo(&info)
}

// describe completes the caller's description with what this package knows.
func (d *Driver) describe() generator.RunInfo {
	info := d.cfg.Info
	info.Tasks, info.Warmup = d.cfg.Workload.Len(), d.cfg.Warmup
	info.TimeScale = d.cfg.Workload.TimeScale()
	info.Schedulers = len(d.cfg.Schedulers)
	info.Before = generator.Counters{Schedulers: map[string]map[string]int64{}}
	info.After = generator.Counters{Schedulers: map[string]map[string]int64{}}
	return info
}

// askTimeout bounds the questions around a run, which no task waits for.
const askTimeout = 5 * time.Second

// before reads every counter. A run whose schedulers do not answer at all does not begin.
func (d *Driver) before(ctx context.Context, info *generator.RunInfo) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	err := d.counters(ctx, &info.Before)
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

func (d *Driver) after(info *generator.RunInfo) {
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	if err := d.counters(ctx, &info.After); err != nil {
		d.cfg.Log.Warn("not every service answers any more; its messages are not counted", "error", err)
	}
}

// counters asks every service; the error joins those that did not answer.
func (d *Driver) counters(ctx context.Context, c *generator.Counters) error {
	var failures []error
	for _, s := range d.cfg.Schedulers {
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
