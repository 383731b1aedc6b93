package baselines

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

// DodoorPlusConfig holds the parts of dodoor+, each a switch, so that its effect can be shown alone.
type DodoorPlusConfig struct {
	Score    string  // "ect", or "ldn": the same from L, D and N alone
	View     string  // "fresh": reports that ride on other messages refresh the view; "snapshot": snapshots alone
	Home     bool    // compare the nodes at home here, which hardly anybody else uses
	Foreign  int     // foreign nodes sampled besides; without homes, nodes sampled
	Gain     float64 // how much better a foreign node must be, a share of 1
	Adaptive bool    // more foreign nodes for a scheduler that gets more than its share of the tasks
	Weighted bool    // sample in proportion to capacity
	Ties     bool    // settle near-ties at random
}

// DefaultDodoorPlus is the recommended policy: every part on.
func DefaultDodoorPlus() DodoorPlusConfig {
	return DodoorPlusConfig{Score: "ect", View: "fresh", Home: true, Foreign: 4, Gain: 0.1, Adaptive: true, Weighted: true, Ties: true}
}

func (c *DodoorPlusConfig) check() error {
	switch {
	case c.Score != "ect" && c.Score != "ldn":
		return fmt.Errorf("score = %q: must be ect or ldn", c.Score)
	case c.View != "fresh" && c.View != "snapshot":
		return fmt.Errorf("view = %q: must be fresh or snapshot", c.View)
	case c.Foreign < 0 || c.Foreign > maxForeign:
		return fmt.Errorf("foreign = %d: must be between 0 and %d", c.Foreign, maxForeign)
	case !(c.Gain >= 0 && c.Gain < 1):
		return fmt.Errorf("gain = %v: must be at least 0 and below 1", c.Gain)
	case !c.Home && c.Foreign == 0:
		return fmt.Errorf("home = false with foreign = 0: nothing would be compared")
	}
	return nil
}

const (
	maxForeign = 64
	// maxHomes bounds the home nodes compared per decision, so that a decision stays fast when there are
	// thousands: a random window of the shuffled list is a sample without replacement.
	maxHomes = 64
)

// DodoorPlus compares the expected completion time on all the nodes at home here with a few sampled foreign
// ones. A scheduler's view of its home nodes is nearly exact, because hardly anybody else uses them, and
// schedulers do not herd, because they look at different nodes. Nothing is exclusive: a scheduler that gets
// most of the load overflows to foreign nodes by itself.
type DodoorPlus struct {
	cfg   DodoorPlusConfig
	score ectScore
	place [1]scheduler.Placement
}

// NewDodoorPlus checks the switches.
func NewDodoorPlus(cfg DodoorPlusConfig) (*DodoorPlus, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	return &DodoorPlus{cfg: cfg, score: ectScore{fromLDN: cfg.Score == "ldn"}}, nil
}

// Submit places t at once.
func (p *DodoorPlus) Submit(_ time.Duration, t *cluster.Task, v *scheduler.View) scheduler.Step {
	draws := v.Draws(t)
	home := champion{node: scheduler.NoNode}
	if p.cfg.Home {
		home = p.bestHome(t, v, draws)
	}
	foreign := champion{node: scheduler.NoNode}
	for range p.foreignCount(v) {
		if i, ok := p.sample(t, v, draws); ok {
			foreign.consider(i, p.score.of(v, t, i), p.cfg.Ties, draws)
		}
	}
	chosen := home.node
	if chosen == scheduler.NoNode || foreign.node != scheduler.NoNode && foreign.ect < home.ect*(1-p.cfg.Gain) {
		chosen = foreign.node
	}
	return placeOn(&p.place, t, v, draws, chosen)
}

// bestHome compares the home nodes.
func (p *DodoorPlus) bestHome(t *cluster.Task, v *scheduler.View, draws *rand.Rand) champion {
	best := champion{node: scheduler.NoNode}
	homes := v.Homes()
	if len(homes) == 0 {
		return best
	}
	at := draws.IntN(len(homes))
	for range min(len(homes), maxHomes) {
		if i := int(homes[at]); v.Feasible(i, t) {
			best.consider(i, p.score.of(v, t, i), p.cfg.Ties, draws)
		}
		if at++; at == len(homes) {
			at = 0
		}
	}
	return best
}

// sample draws a foreign node; without homes, any node.
func (p *DodoorPlus) sample(t *cluster.Task, v *scheduler.View, draws *rand.Rand) (int, bool) {
	if p.cfg.Weighted {
		return v.DrawWeighted(t, draws, p.cfg.Home)
	}
	i, ok := v.Draw(t, draws, scheduler.NoNode)
	return i, ok && !(p.cfg.Home && v.Node(i).Home)
}

// foreignCount grows with this scheduler's share of the placements, up to four times the setting: one that
// gets everything has to know the whole cluster.
func (p *DodoorPlus) foreignCount(v *scheduler.View) int {
	if !p.cfg.Home {
		return p.cfg.Foreign
	}
	if !p.cfg.Adaptive || v.Share == 0 || v.Schedulers == 0 {
		return p.cfg.Foreign
	}
	excess := min(max(v.Share*float64(v.Schedulers), 1), 4)
	return min(int(math.Round(float64(p.cfg.Foreign)*excess)), maxForeign)
}

// Probed has nothing to learn: it never probes.
func (p *DodoorPlus) Probed(time.Duration, scheduler.Probe, *scheduler.View) scheduler.Step {
	return scheduler.Step{}
}

// Cached reports that it decides from the cache alone.
func (p *DodoorPlus) Cached() bool { return true }
