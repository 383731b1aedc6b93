package nemesis

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"

	"dodoor/sim"
)

// hows are the ways in which things go wrong here. A host's clock is this machine's, so nobody moves it: who is to return
// with another clock just dies. The clock is moved in the virtual machine.
var hows = []string{sim.Dies, sim.Stalls, sim.Refuses, sim.Deaf, sim.Mute, sim.Slow, sim.Restarts, sim.Upgrades, sim.Clock, sim.Parts,
	sim.Drops, sim.Duplicates, sim.Full}

// strike makes a fault happen, and returns what ends it.
func (r *round) strike(f *sim.Fault) (repair func() error, err error) {
	if f.What == sim.FaultNetwork {
		return r.strikeNetwork(f)
	}
	name := f.Name
	if f.What == sim.FaultDatastore {
		name = sim.FaultDatastore
	}
	v := r.services[name]
	switch f.How {
	case sim.Dies, sim.Clock:
		v.die()
		return func() error { return v.come(false) }, nil
	case sim.Restarts, sim.Upgrades:
		v.leave()
		return func() error { return v.come(f.How == sim.Upgrades) }, nil
	case sim.Stalls:
		v.stall(true)
		return func() error { v.stall(false); return nil }, nil
	case sim.Refuses:
		return ruled(v.refusing())
	case sim.Deaf:
		return ruled(v.deaf())
	case sim.Mute:
		return ruled(v.mute())
	case sim.Slow:
		return r.divert(v.host, "", detour{Delay: f.Delay})
	case sim.Full:
		return v.fill()
	}
	return nil, fmt.Errorf("nobody knows how a %s %s", f.What, f.How)
}

func ruled(rules []rule) (func() error, error) {
	return func() error { drop(rules); return nil }, put(rules)
}

func (r *round) strikeNetwork(f *sim.Fault) (func() error, error) {
	one, other := r.named(f.Between), r.named(f.And)
	switch f.How {
	case sim.Parts:
		return ruled(parted(one, other, f.OneWay))
	case sim.Drops:
		return ruled(dropping(one, other, f.Share))
	}
	var repairs []func() error
	for _, sides := range [][2][]*host{{one, other}, {other, one}} {
		for _, h := range sides[1] {
			if r.services[h.name] == nil {
				continue // nobody calls a client
			}
			repair, err := r.divert(h, "-s "+addresses(sides[0]), detour{Share: f.Share})
			if err != nil {
				return together(repairs), err
			}
			repairs = append(repairs, repair)
		}
	}
	return together(repairs), nil
}

func together(all []func() error) func() error {
	return func() error {
		for _, do := range all {
			if err := do(); err != nil {
				return err
			}
		}
		return nil
	}
}

// named are the hosts of services, or of all clients.
func (r *round) named(names []string) []*host {
	var hosts []*host
	for _, name := range names {
		if name == sim.FaultClients {
			for i := range r.scenario.Clients {
				hosts = append(hosts, r.hosts[r.scenario.Clients[i].Name])
			}
			continue
		}
		hosts = append(hosts, r.hosts[name])
	}
	return hosts
}

// proxies have ports of their own, as a service may have several at a time.
var proxies = struct {
	sync.Mutex
	last int
}{last: port}

// divert has messages to a service pass through a proxy.
func (r *round) divert(h *host, from string, d detour) (func() error, error) {
	proxies.Lock()
	proxies.last = port + 1 + (proxies.last-port)%1000
	d.Listen = proxies.last
	proxies.Unlock()
	d.To, d.Seed = fmt.Sprintf("%s:%d", h.address, port), r.scenario.Seed
	text, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	p, err := h.own(filepath.Join(r.out, h.name+".proxy.log"), detourVariable, string(text))
	if err != nil {
		return nil, err
	}
	rules := h.redirected(from, d.Listen)
	if err := put(rules); err != nil {
		p.kill()
		return nil, err
	}
	return func() error {
		drop(rules)
		p.kill()
		return nil
	}, nil
}

// fill leaves no room where a scheduler's journal is, until it is emptied.
func (v *service) fill() (func() error, error) {
	path := v.inside(filepath.Join(disk, "filler"))
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = file.Write(block)
	}
	if pathError, ok := err.(*os.PathError); !ok || pathError.Err != syscall.ENOSPC {
		return nil, err
	}
	return func() error { return os.Remove(path) }, nil
}

// carryOut has all faults of the scenario happen at their times and end, and returns when they have.
func (r *round) carryOut() {
	var all sync.WaitGroup
	for i := range r.scenario.Faults {
		f := &r.scenario.Faults[i]
		all.Go(func() {
			r.sleep(f.At)
			if r.ctx.Err() != nil {
				return
			}
			repair, err := r.strike(f)
			r.complain(err)
			if repair == nil {
				return
			}
			r.sleep(f.Until)
			r.complain(repair())
		})
	}
	all.Wait()
}

// sleep returns at a time of the scenario, or when the run is to end.
func (r *round) sleep(until time.Duration) { pause(r.ctx, until-r.now()) }
