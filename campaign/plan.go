package campaign

import (
	"cmp"
	"fmt"

	"dodoor/conf"
)

// Plan is the runs that some studies need, each once.
type Plan struct {
	Studies []Study
	Options Options
	runs    []*run
	cells   []planned
}

// planned is a setting with its runs.
type planned struct {
	cell    Cell
	studies []string
	runs    []*run // in the order of the seeds
}

// run is one setting with one seed.
type run struct {
	study   string // the first that needs it
	c       *conf.Config
	large   bool
	weight  float64 // how long it takes, roughly, in runs of a task under the quickest policy
	outcome Outcome
}

// NewPlan lists the runs of some studies. Settings that come to the same configuration share their runs,
// however they are written.
func NewPlan(studies []Study, o Options) (*Plan, error) {
	p := &Plan{Studies: studies, Options: o}
	read, byText := profiles{}, map[string]*run{}
	byKey := map[string]int{}
	for _, s := range studies {
		for _, c := range s.cells() {
			if at, ok := byKey[c.key()]; ok {
				p.cells[at].studies = append(p.cells[at].studies, s.Name)
				continue
			}
			byKey[c.key()] = len(p.cells)
			entry := planned{cell: c, studies: []string{s.Name}}
			if err := p.add(&entry, s.Name, read, byText); err != nil {
				return nil, err
			}
			p.cells = append(p.cells, entry)
		}
	}
	return p, nil
}

// add plans the runs of one setting, or finds them.
func (p *Plan) add(entry *planned, study string, read profiles, byText map[string]*run) error {
	base, err := read.config(&entry.cell)
	if err != nil {
		return err
	}
	text, err := base.Marshal() // the whole configuration, but for the seed
	if err != nil {
		return err
	}
	seeds := p.Options.Seeds
	if most := entry.cell.Seeds; most > 0 {
		seeds = min(seeds, most)
	}
	for seed := 1; seed <= seeds; seed++ {
		key := fmt.Sprintf("%d %s", seed, text)
		r := byText[key]
		if r == nil {
			c := *base
			c.Seed = uint64(seed)
			r = &run{study: study, c: &c, large: entry.cell.Large, weight: weight(&c)}
			byText[key] = r
			p.runs = append(p.runs, r)
		}
		entry.runs = append(entry.runs, r)
	}
	return nil
}

// Runs is how many runs there are.
func (p *Plan) Runs() int { return len(p.runs) }

// weight estimates what a run costs: it makes the remaining time credible, and nothing else depends on it.
func weight(c *conf.Config) float64 {
	perTask := map[string]float64{"pot": 1.4, "prequal": 1.6, "dodoor+": 1.3, "oracle": 2.2, "least-loaded": 1.5}
	far := 1 + float64(c.Workers())/10_000 // what does not fit a cache is slow
	return float64(c.Generator.N) * cmp.Or(perTask[c.Scheduler.Policy], 1) * far
}

// results returns the outcomes once all runs have ended.
func (p *Plan) results() *Results {
	r := &Results{outcomes: map[string][]*Outcome{}}
	for i := range p.cells {
		c := &p.cells[i]
		for _, run := range c.runs {
			r.outcomes[c.cell.key()] = append(r.outcomes[c.cell.key()], &run.outcome)
		}
	}
	return r
}
