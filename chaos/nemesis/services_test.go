package nemesis

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"dodoor/chaos"
	"dodoor/sim"
)

// service is a part of the cluster, in a host. Its processes come and go.
type service struct {
	*host
	role    string // of the command that runs it
	conf    string // path
	log     string // path
	binary  func(build int) string
	before  func(number int) // what to do before a process of this number begins
	mu      sync.Mutex
	process *process
	number  int // of processes so far
	build   int
	away    int   // faults for which it is not to run
	stalls  int   // faults for which it is stopped
	deaths  []int // numbers of processes that ended though nobody wanted it
	trouble []error
	closed  bool
}

// services are those of a scenario, each in its host.
func (l *lab) services(s *chaos.Scenario, out string) (map[string]*service, error) {
	all := map[string]*service{}
	add := func(name, role, class string) error {
		v := &service{host: l.hosts[name], role: role, log: filepath.Join(out, name+".log"), conf: filepath.Join(l.folder, name+".toml"),
			binary: func(build int) string { return l.binaries[build%len(l.binaries)] }, before: func(int) {}}
		me := setup{name: name, class: class, address: v.address, data: l.hosts[sim.FaultDatastore].address,
			task: filepath.Join(l.folder, "task"), tempo: hasty}
		all[name] = v
		return os.WriteFile(v.conf, []byte(me.conf(s)), 0o644)
	}
	class := s.Workers[0].Class
	err := add(sim.FaultDatastore, sim.FaultDatastore, class)
	for _, name := range s.Names() {
		if strings.HasPrefix(name, sim.FaultScheduler+"-") {
			err = errors.Join(err, add(name, sim.FaultScheduler, class))
		}
	}
	for i := range s.Workers {
		w := &s.Workers[i]
		err = errors.Join(err, add(w.Name, sim.FaultWorker, w.Class))
		all[w.Name].before = func(number int) {
			path := filepath.Join(l.ledger(), w.Name+".process")
			_ = os.WriteFile(path+".new", fmt.Append(nil, number), 0o644)
			_ = os.Rename(path+".new", path)
		}
	}
	return all, err
}

// ledger is the folder where tasks note what they do.
func (l *lab) ledger() string { return filepath.Join(l.folder, "ledger") }

// start begins a process, unless there is one or there is not to be any. When it ends by itself another one follows, as a
// supervisor does it.
func (v *service) start() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.begin()
}

func (v *service) begin() error {
	if v.closed || v.away > 0 || v.process != nil && v.process.running() {
		return nil
	}
	v.number++
	v.before(v.number)
	p, err := v.run(v.log, v.binary(v.build), v.role, "-conf", v.conf)
	if err != nil {
		return err
	}
	v.process = p
	go v.watch(p, v.number)
	return nil
}

// supervision is how soon a process follows one that has ended.
const supervision = 200 * time.Millisecond

func (v *service) watch(p *process, number int) {
	<-p.ended
	v.mu.Lock()
	unwanted := !v.closed && v.away == 0 && v.process == p
	if unwanted {
		v.deaths = append(v.deaths, number)
	}
	v.mu.Unlock()
	if unwanted {
		<-time.After(supervision)
		_ = v.start()
	}
}

// itself is the process that does the work: that of a worker is its keeper's child. 0: there is none.
func (v *service) itself() int {
	switch {
	case !v.process.running():
		return 0
	case v.role == sim.FaultWorker:
		return childOf(v.process.pid)
	}
	return v.process.pid
}

// die kills the process; it stays away until come. Of a worker every third time its keeper dies first.
func (v *service) die() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.away++
	if pid := v.itself(); pid > 0 && v.number%3 != 0 {
		_ = syscall.Kill(pid, syscall.SIGKILL)
		v.process.signal(syscall.SIGCONT)
		select {
		case <-v.process.ended:
		case <-time.After(farewell):
			v.trouble = append(v.trouble, fmt.Errorf("the keeper of %s did not end within %v of its worker", v.name, farewell))
			v.process.kill()
		}
		return
	}
	v.process.kill()
}

// leave asks the process to end; it stays away until come, which waits for its end.
func (v *service) leave() {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.away++
	if pid := v.itself(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT) // it may have been stopped
	}
	v.process.signal(syscall.SIGTERM)
}

// farewell is the longest that a process takes that was asked to end.
const farewell = 15 * time.Second

// come has the service run again, of another build if need be.
func (v *service) come(upgraded bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.away--
	if upgraded {
		v.build++
	}
	if v.away > 0 {
		return nil
	}
	select {
	case <-v.process.ended:
	case <-time.After(farewell):
		v.process.kill()
		return errors.Join(fmt.Errorf("%s did not end within %v of SIGTERM", v.name, farewell), v.begin())
	}
	return v.begin()
}

// stall stops the process, or lets it go on.
func (v *service) stall(on bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if on {
		v.stalls++
		if pid := v.itself(); pid > 0 {
			_ = syscall.Kill(pid, syscall.SIGSTOP)
		}
		return
	}
	if v.stalls--; v.stalls > 0 {
		return
	}
	if pid := v.itself(); pid > 0 {
		_ = syscall.Kill(pid, syscall.SIGCONT)
	}
	v.process.signal(syscall.SIGCONT) // of whom nsenter stopped itself
}

// close ends the service for good: well, if it is asked to, and otherwise at once.
func (v *service) close(well bool) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.closed = true
	if v.process == nil {
		return nil
	}
	if !well {
		v.process.kill()
		return nil
	}
	if !v.process.running() {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), farewell)
	defer cancel()
	return v.process.terminate(ctx)
}
