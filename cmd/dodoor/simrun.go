package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"dodoor/conf"
	"dodoor/generator"
	"dodoor/generator/drive"
	"dodoor/internal/cluster"
	"dodoor/report"
	"dodoor/sim"
)

// simulation is one simulated run: what simulate, compare and calibrate have in common. Its directory holds
// what that of a real run holds.
type simulation struct {
	c        *conf.Config
	dir      string
	progress *os.File // a bar, if it is a terminal and the run takes a while; nil: none

	workload *generator.Workload
	files    *drive.RunDir
	open     map[string]int // tasks without a row, by id
	took     time.Duration  // on this machine

	result  sim.Result
	summary *report.Summary // once the run has ended
}

// run simulates, and writes rows and summary. Its exit code is for the error.
func (s *simulation) run(ctx context.Context) (int, error) {
	var err error
	if s.workload, err = newWorkload(s.c, ""); err != nil {
		return exitUsage, err
	}
	cfg, err := simConfig(s.c, s.workload)
	if err != nil {
		return exitUsage, err
	}
	info, err := s.describe(cfg.Nodes)
	if err != nil {
		return exitFailed, err
	}
	if err := prepareDir(s.dir); err != nil {
		return exitUsage, err
	}
	if s.files, err = drive.CreateRunDir(s.dir); err != nil {
		return exitUsage, err
	}
	if err := s.files.WriteInfo(&info); err != nil {
		return exitFailed, errors.Join(err, s.files.Close())
	}
	s.open = make(map[string]int, s.workload.Len())
	for i := range s.workload.Len() {
		s.open[s.workload.ID(i)] = i
	}
	cfg.Row, cfg.Sample = s.row, s.files.Samples.Write
	stopProgress := s.watch(ctx, &cfg)
	s.result, err = sim.Run(cfg)
	stopProgress()
	s.took = time.Since(info.Started)
	if err != nil {
		err = errors.Join(err, s.files.Close())
		if s.result.Events == 0 { // it never began: the scenario is impossible
			return exitUsage, errors.Join(err, report.RemoveRun(s.dir))
		}
		return exitFailed, err
	}
	return s.conclude(&info)
}

// describe is what the rows do not say. The message counters start at nothing, as all services do.
func (s *simulation) describe(nodes []cluster.Node) (generator.RunInfo, error) {
	info, err := runInfo(s.c, onSim, nodes)
	info.Tasks, info.Warmup, info.TimeScale, info.Schedulers = s.workload.Len(), s.c.Generator.Warmup, s.workload.TimeScale(), s.c.Scheduler.Replicas
	info.Started = time.Now()
	info.Before = generator.Counters{Schedulers: map[string]map[string]int64{}}
	info.After = generator.Counters{Schedulers: map[string]map[string]int64{}}
	return info, err
}

// row writes the row of a task that has ended.
func (s *simulation) row(r *generator.Row) error {
	delete(s.open, r.TaskID)
	return s.files.Rows.Write(r)
}

// showAfter is how long a run may take without a progress bar.
const showAfter = 2 * time.Second

// watch lets the simulator draw a progress bar, and end when ctx does.
func (s *simulation) watch(ctx context.Context, cfg *sim.Config) (stop func()) {
	begin := time.Now()
	bar := drive.NewProgress(s.progress, cfg.Workload.Len())
	shown := false
	cfg.Progress = func(ended int) bool {
		if now := time.Since(begin); now >= showAfter {
			shown = true
			bar.Show(ended, now, func(perSecond float64) string { return fmt.Sprintf("%.0f tasks/s, ended", perSecond) })
		}
		return ctx.Err() == nil
	}
	return func() {
		if shown {
			bar.Finish()
		}
	}
}

// conclude completes the directory of a run that has ended, of its own or because it was stopped.
func (s *simulation) conclude(info *generator.RunInfo) (int, error) {
	outcome := drive.Result{Tasks: s.workload.Len(), Finished: s.result.Finished(), Failed: s.result.Outcomes[cluster.Failed],
		TimedOut: s.result.Outcomes[cluster.TimedOut], Cancelled: s.result.Outcomes[cluster.Cancelled], Lost: s.result.Outcomes[cluster.Lost],
		Stopped: s.result.Stopped, Elapsed: s.result.Elapsed}
	err := s.giveUp(&outcome)
	if err = errors.Join(err, s.files.Close()); err != nil {
		return exitFailed, err
	}
	ended := time.Now()
	info.Ended, info.Stopped, info.After = &ended, s.result.Stopped, s.result.Counters
	if err := s.files.WriteInfo(info); err != nil {
		return exitFailed, err
	}
	if s.summary, err = report.Summarise(s.dir); err != nil {
		return exitFailed, err
	}
	if err := report.WriteSummary(s.dir, s.summary); err != nil {
		return exitFailed, err
	}
	if !outcome.Clean() {
		return exitFailed, incomplete(outcome)
	}
	return exitDone, nil
}

// giveUp writes the rows of tasks that a stopped run leaves without an end, as a replay does: every task
// has a row.
func (s *simulation) giveUp(outcome *drive.Result) error {
	for i := range s.workload.Len() {
		if _, open := s.open[s.workload.ID(i)]; !open {
			continue
		}
		row := s.workload.NewRow(i)
		row.Warmup = i < s.c.Generator.Warmup
		if due := s.workload.Due(i); due <= s.result.Elapsed {
			row.Sent, row.Outcome, row.Reason = due, cluster.Lost, "abandoned: the run was stopped"
			outcome.Abandoned++
			outcome.Lost++
		} else {
			row.Outcome, row.Reason = cluster.Cancelled, "not submitted: the run was stopped"
			outcome.NotSubmitted++
			outcome.Cancelled++
		}
		if err := s.files.Rows.Write(&row); err != nil {
			return err
		}
	}
	return nil
}
