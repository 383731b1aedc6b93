package nemesis

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/internal/rpc"
	"dodoor/sim"
)

// round is one scenario that is carried out.
type round struct {
	*lab
	ctx      context.Context
	scenario chaos.Scenario
	out      string // the folder of what services say
	services map[string]*service
	start    int64 // as clock tells it

	mu       sync.Mutex
	problems []error // of whoever carries it out, or that the checker does not know
}

// play carries out a scenario. It returns its history, and what is wrong beyond it.
func (l *lab) play(ctx context.Context, s chaos.Scenario, out string) (chaos.History, error) {
	r := &round{lab: l, ctx: ctx, scenario: s, out: out}
	if err := r.prepare(); err != nil {
		return nil, err
	}
	defer r.end(false)
	for _, v := range r.services {
		r.complain(v.start())
	}
	if err := errors.Join(append(r.problems, r.ready())...); err != nil {
		return nil, err
	}
	r.start = clock()
	clients, err := r.sendClients()
	defer func() {
		for _, p := range clients {
			if p.running() {
				p.kill()
			}
		}
	}()
	if err != nil {
		return nil, err
	}
	r.carryOut()
	for _, h := range l.hosts {
		r.complain(h.calm())
	}
	for _, p := range clients {
		select {
		case <-p.ended:
			if p.err != nil {
				r.complain(fmt.Errorf("%s: %w: see its log", p.name, p.err))
			}
		case <-ctx.Done():
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	left := r.audit()
	r.end(true)
	history, err := noted(&r.scenario, r.start, r.out, r.ledger())
	history = append(history, left...)
	return history, errors.Join(append(r.problems, err, served(history))...)
}

func (r *round) now() time.Duration { return time.Duration(clock() - r.start) }

func (r *round) complain(err error) {
	if err != nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.problems = append(r.problems, err)
	}
}

// prepare empties everything that an earlier round has left.
func (r *round) prepare() (err error) {
	err = errors.Join(os.RemoveAll(r.ledger()), os.Mkdir(r.ledger(), 0o777), os.Chmod(r.ledger(), 0o777), os.MkdirAll(r.out, 0o755))
	if err != nil {
		return err
	}
	for _, h := range r.hosts {
		if err := h.calm(); err != nil {
			return err
		}
		for _, folder := range []string{disk, "/tmp"} {
			entries, err := os.ReadDir(h.inside(folder))
			if err != nil {
				return err
			}
			for _, e := range entries {
				if err := os.RemoveAll(filepath.Join(h.inside(folder), e.Name())); err != nil {
					return err
				}
			}
		}
	}
	r.services, err = r.lab.services(&r.scenario, r.out)
	return err
}

// end ends every process of the services. Well: they are asked to, and nobody may panic.
func (r *round) end(well bool) {
	var all sync.WaitGroup
	for name, v := range r.services {
		all.Go(func() {
			if err := v.close(well); err != nil {
				r.complain(fmt.Errorf("%s: %w: see its log", name, err))
			}
		})
	}
	all.Wait()
	if !well {
		return
	}
	for name, v := range r.services {
		log, err := os.ReadFile(v.log)
		r.complain(errors.Join(append(v.trouble, err)...))
		if len(v.deaths) > 0 && !r.fills(name) {
			r.complain(fmt.Errorf("%s: process %v ended by itself: see its log", name, v.deaths))
		}
		for _, cry := range []string{"panic: ", "fatal error: ", "goroutine 1 ["} {
			if strings.Contains(string(log), cry) {
				r.complain(fmt.Errorf("%s: its log has %q", name, cry))
			}
		}
	}
}

// fills reports whether a scheduler's disk becomes full: it may end then.
func (r *round) fills(name string) bool {
	return slices.ContainsFunc(r.scenario.Faults, func(f sim.Fault) bool { return f.How == sim.Full && f.Name == name })
}

// data, scheduler and worker are connections to services, which whoever wanted them closes.
func (r *round) data() *rpc.DataClient {
	return rpc.NewDataClient(fmt.Sprintf("%s:%d", r.hosts[sim.FaultDatastore].address, port), cluster.Standard(), hasty.wire())
}

func (r *round) scheduler(name string) *rpc.SchedulerClient {
	return rpc.NewSchedulerClient(fmt.Sprintf("%s:%d", r.hosts[name].address, port), cluster.Standard(), hasty.wire())
}

func (r *round) worker(name string) *rpc.WorkerClient {
	return rpc.NewWorkerClient(fmt.Sprintf("%s:%d", r.hosts[name].address, port), cluster.Standard(), hasty.wire())
}

// schedulers are their names.
func (r *round) schedulers() []string {
	var names []string
	for i := range r.scenario.Schedulers {
		names = append(names, cluster.SchedulerName(i))
	}
	return names
}

// ready returns when every scheduler knows every worker.
func (r *round) ready() error {
	ctx, cancel := context.WithTimeout(r.ctx, patience)
	defer cancel()
	for _, name := range r.schedulers() {
		s := r.scheduler(name)
		defer s.Close()
		for {
			view, err := s.View(ctx)
			if err == nil && len(view.Nodes) == len(r.scenario.Workers) {
				break
			}
			if !pause(ctx, 20*time.Millisecond) {
				return fmt.Errorf("%s is not ready: it knows %d of %d workers, %w", name, len(view.Nodes), len(r.scenario.Workers),
					errors.Join(err, ctx.Err()))
			}
		}
	}
	return nil
}

// sendClients starts every client of the scenario.
func (r *round) sendClients() ([]*process, error) {
	var all []*process
	for _, c := range r.scenario.Clients {
		e := errand{Client: c, Scenario: r.scenario, Argv: []string{filepath.Join(r.folder, "task"), r.ledger()}, Start: r.start,
			Tempo: hasty,
			Out:   filepath.Join(r.out, c.Name+".history")}
		for _, name := range r.schedulers() {
			e.Schedulers = append(e.Schedulers, cluster.SchedulerRef{Name: name, Address: fmt.Sprintf("%s:%d", r.hosts[name].address, port)})
		}
		text, err := json.Marshal(e)
		if err != nil {
			return all, err
		}
		path := filepath.Join(r.out, c.Name+".errand")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			return all, err
		}
		p, err := r.hosts[c.Name].own(filepath.Join(r.out, c.Name+".log"), errandVariable, path)
		if err != nil {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}
