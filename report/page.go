package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// pageGroup is a group with its figures.
type pageGroup struct {
	*Group
	Plots []pagePlot
}

type pagePlot struct {
	Plot
	svg []byte
}

// Inline is the SVG as a part of the page: without the XML header, named for those who cannot see
// it, and as wide as its box.
func (p pagePlot) Inline() template.HTML {
	_, svg, _ := bytes.Cut(p.svg, []byte("<svg "))
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="%s" %s`, template.HTMLEscapeString(p.Figure.Title), svg))
}

// pageSection is a heading with its figures.
type pageSection struct {
	Title string
	Plots []pagePlot
}

// Sections sorts the figures under their headings.
func (g pageGroup) Sections() []pageSection {
	var all []pageSection
	for _, p := range g.Plots {
		if last := len(all) - 1; last < 0 || all[last].Title != p.Section {
			all = append(all, pageSection{Title: p.Section})
		}
		section := &all[len(all)-1]
		section.Plots = append(section.Plots, p)
	}
	return all
}

// Header is the first line of the group's table.
func (g pageGroup) Header() []string {
	header, _ := g.table()
	return header
}

// Rows are the other lines.
func (g pageGroup) Rows() []tableRow {
	_, rows := g.table()
	return rows
}

// Warning says which of the group's runs are incomplete, or nothing.
func (g pageGroup) Warning() string { return g.warning() }

// Seeds lists the seeds of the group's runs.
func (g pageGroup) Seeds() []uint64 {
	var seeds []uint64
	for _, r := range g.Runs {
		seeds = append(seeds, r.Seed)
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}

// Classes describes the cluster.
func (g pageGroup) Classes() []string {
	var lines []string
	for _, c := range classesOf(g.Runs[0].Info) {
		lines = append(lines, fmt.Sprintf("%d × %s: %g cores, %d MB, %d slots", c.Nodes, c.Name, c.Cores, c.MemoryMB, c.Slots))
	}
	return lines
}

// Setting is one line of the settings of a policy.
type Setting struct{ Key, Value string }

// PolicySettings are the settings of one line of the figures.
type PolicySettings struct {
	Label    string
	Settings []Setting
}

// Settings lists what each policy ran with.
func (g pageGroup) Settings() []PolicySettings {
	var all []PolicySettings
	for _, p := range g.Policies {
		s := PolicySettings{Label: p.Label}
		flat := settingsOf(p.Cells[0].Runs[0])
		for _, key := range slices.Sorted(maps.Keys(flat)) {
			s.Settings = append(s.Settings, Setting{key, flat[key]})
		}
		all = append(all, s)
	}
	return all
}

// TaskTypes shows the task types as they were configured.
func (g pageGroup) TaskTypes() string {
	types, ok := g.Runs[0].Info.Settings["task_type"]
	if !ok {
		return ""
	}
	text, _ := json.MarshalIndent(types, "", " ") // it came out of JSON
	return string(text)
}

// pageRun is a line in the list of all runs.
type pageRun struct {
	Run   string
	Cells []string
	Bad   bool
}

func pageRuns(runs []Run) []pageRun {
	var all []pageRun
	for i := range runs {
		r := &runs[i]
		state := "complete"
		if !r.Complete() {
			state = incompleteMark + ": " + r.Missing()
		}
		all = append(all, pageRun{r.Name, []string{
			r.Policy, strings.TrimPrefix(rate(r.QPS), "QPS "), fmt.Sprint(r.Seed), fmt.Sprintf("%d of %d", r.Completed, r.Tasks), state,
			r.Info.Started.UTC().Format("2006-01-02 15:04:05"), r.Info.Host, r.Info.Versions["dodoor"] + " " + r.Info.Versions["commit"],
		}, !r.Complete()})
	}
	return all
}

func renderPage(runs []Run, groups []pageGroup, notes []string) ([]byte, error) {
	var incomplete []pageRun
	all := pageRuns(runs)
	for _, r := range all {
		if r.Bad {
			incomplete = append(incomplete, r)
		}
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, map[string]any{"Groups": groups, "Runs": all, "Notes": notes, "Incomplete": incomplete, "Legend": tableLegend})
	return b.Bytes(), err
}
