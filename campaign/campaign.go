// Package campaign is the evaluation of the paper (Sec. 6), and what it leaves open, as data: studies made of
// simulated settings, what to tabulate of them, the published figures beside, and what the results say. It
// plans the runs, has them run in parallel, and writes one page. No figure on the page is written down
// here but the published ones; what explains them is about mechanisms, so the page stays true whatever
// is measured.
package campaign

import (
	"fmt"
	"slices"
	"strings"
)

// Study is a question with the settings that answer it.
type Study struct {
	Name     string // on the command line
	Title    string
	Question string
	Parts    []Part
	Claims   []Claim
	Rules    []Rule
	Extra    []Cell // settings that claims and rules look at and no table shows
}

// Part is a piece of a study's section: text, then a table, a picture, and what the results say. All
// may be absent.
type Part struct {
	Text  string
	Table *Table
	Plot  *Plot
	Says  func(r *Results) string
}

// Rule is a rule of thumb with the figures that support it, which stand where the text has %s.
type Rule struct {
	Breaks  string // under what
	Text    string
	Figures []Figure
}

// Figure is something measured, as it stands in a text.
type Figure func(r *Results) string

// Options choose what is run.
type Options struct {
	Azure string // a trace file instead of the synthetic one, or empty
	Seeds int    // runs per setting, seeds 1 to Seeds
	Quick bool   // a hundredth of the tasks: figures mean nothing, but everything is tried
	Only  []string
}

// Names lists the studies in the order of the page.
func Names() []string {
	var names []string
	for _, s := range all(Options{Seeds: 1}) {
		names = append(names, s.Name)
	}
	return names
}

// Studies makes the studies that the options ask for.
func Studies(o Options) ([]Study, error) {
	if o.Seeds < 1 || o.Seeds > maxSeeds {
		return nil, fmt.Errorf("%d seeds: must be between 1 and %d", o.Seeds, maxSeeds)
	}
	for _, name := range o.Only {
		if !slices.Contains(Names(), name) {
			return nil, fmt.Errorf("no study is called %q; known: %s", name, strings.Join(Names(), ", "))
		}
	}
	studies := all(o)
	if len(o.Only) > 0 {
		studies = slices.DeleteFunc(studies, func(s Study) bool { return !slices.Contains(o.Only, s.Name) })
	}
	return studies, nil
}

const maxSeeds = 100

// all makes every study. The paper's come first.
func all(o Options) []Study {
	return []Study{
		rerun(o), azure(o), functionBench(o), batches(o), alphas(o),
		probing(o), capacity(o), nearOracle(o), ablation(o), scale(o), replicas(o), staleness(o), estimates(o), learned(o), bursts(o), skew(o),
		failures(o),
	}
}

// cells lists every setting of a study once.
func (s *Study) cells() []Cell {
	var cells []Cell
	seen := map[string]bool{}
	add := func(c Cell) {
		if !seen[c.key()] {
			seen[c.key()] = true
			cells = append(cells, c)
		}
	}
	for _, p := range s.Parts {
		if p.Table != nil {
			for i := range p.Table.Rows {
				add(p.Table.Rows[i].Cell)
				if against := p.Table.Rows[i].Against; against != nil {
					add(*against)
				}
				for _, c := range p.Table.Rows[i].Beside {
					add(c)
				}
			}
		}
		if p.Plot != nil {
			for _, l := range p.Plot.Lines {
				for _, c := range l.Cells {
					add(c)
				}
			}
		}
	}
	for _, c := range s.Extra {
		add(c)
	}
	return cells
}
