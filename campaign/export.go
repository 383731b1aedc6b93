package campaign

import (
	"encoding/json"

	"dodoor/report/metrics"
)

// exported is one setting in results.json.
type exported struct {
	Studies  []string           `json:"studies"`
	Profile  string             `json:"profile"`
	Trace    string             `json:"trace"`
	Policy   string             `json:"policy"`
	QPS      float64            `json:"qps"`
	Tasks    int                `json:"tasks"`
	Settings []string           `json:"settings"` // beyond the profile
	Runs     []*metrics.Summary `json:"runs"`     // by seed
}

// JSON lists every setting with the summaries of its runs.
func (p *Plan) JSON() ([]byte, error) {
	all := []exported{}
	for i := range p.cells {
		c := &p.cells[i].cell
		e := exported{Studies: p.cells[i].studies, Profile: c.Profile, Trace: shortName(c.Trace), Policy: c.Policy, QPS: c.QPS, Tasks: c.N,
			Settings: append([]string{}, c.Sets...)}
		for _, run := range p.cells[i].runs {
			e.Runs = append(e.Runs, run.outcome.Summary)
		}
		all = append(all, e)
	}
	text, err := json.MarshalIndent(all, "", " ")
	return append(text, '\n'), err
}
