// Package page writes report.html: one page with every figure, which needs no other file.
package page

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"dodoor/report/group"
	"dodoor/report/metrics"
	"dodoor/report/plots"
	"dodoor/report/results"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("report").Parse(pageText))

// Group is a group with its figures.
type Group struct {
	*group.Group
	Plots []Plot
}

// Plot is a figure, and its drawing.
type Plot struct {
	plots.Plot
	SVG []byte
}

// Inline is the SVG as a part of the page: without the XML header, named for those who cannot see
// it, and as wide as its box.
func (p Plot) Inline() template.HTML {
	_, svg, _ := bytes.Cut(p.SVG, []byte("<svg "))
	return template.HTML(fmt.Sprintf(`<svg role="img" aria-label="%s" %s`, template.HTMLEscapeString(p.Figure.Title), svg))
}

// section is a heading with its figures.
type section struct {
	Title string
	Plots []Plot
}

// Sections sorts the figures under their headings.
func (g Group) Sections() []section {
	var all []section
	for _, p := range g.Plots {
		if last := len(all) - 1; last < 0 || all[last].Title != p.Section {
			all = append(all, section{Title: p.Section})
		}
		section := &all[len(all)-1]
		section.Plots = append(section.Plots, p)
	}
	return all
}

// Header is the first line of the group's table.
func (g Group) Header() []string {
	header, _ := g.Table()
	return header
}

// Rows are the other lines.
func (g Group) Rows() []group.Row {
	_, rows := g.Table()
	return rows
}

// EstimateNote stands where the figures of estimates would, if those would show nothing.
func (g Group) EstimateNote() string { return plots.EstimateNote(g.Group) }

// Seeds lists the seeds of the group's runs.
func (g Group) Seeds() []uint64 {
	var seeds []uint64
	for _, r := range g.Runs {
		seeds = append(seeds, r.Seed)
	}
	slices.Sort(seeds)
	return slices.Compact(seeds)
}

// Classes describes the cluster.
func (g Group) Classes() []string {
	var lines []string
	for _, c := range metrics.ClassesOf(g.Runs[0].Info) {
		lines = append(lines, fmt.Sprintf("%d × %s: %g cores, %d MB, %d slots", c.Nodes, c.Name, c.Cores, c.MemoryMB, c.Slots))
	}
	return lines
}

// Settings lists what a policy ran with, by key.
func (g Group) Settings(p group.Policy) map[string]string {
	return group.SettingsOf(p.Cells[0].Runs[0])
}

// TaskTypes shows the task types as they were configured.
func (g Group) TaskTypes() string {
	types, ok := g.Runs[0].Info.Settings["task_type"]
	if !ok {
		return ""
	}
	text, _ := json.MarshalIndent(types, "", " ") // it came out of JSON
	return string(text)
}

// runLine is a line in the list of all runs.
type runLine struct {
	Run   string
	Cells []string
	Bad   bool
}

func runLines(runs []results.Run) []runLine {
	var all []runLine
	for i := range runs {
		r := &runs[i]
		state := "complete"
		if !r.Complete() {
			state = group.IncompleteMark + ": " + r.Missing()
		}
		all = append(all, runLine{r.Name, []string{
			r.Policy, strings.TrimPrefix(group.Rate(r.QPS), "QPS "), fmt.Sprint(r.Seed), fmt.Sprintf("%d of %d", r.Completed, r.Tasks), state,
			r.Info.Started.UTC().Format("2006-01-02 15:04:05"), r.Info.Host, r.Info.Versions["dodoor"] + " " + r.Info.Versions["commit"],
		}, !r.Complete()})
	}
	return all
}

// Render writes the page; notes are what its reader should know beside the figures.
func Render(runs []results.Run, groups []Group, notes []string) ([]byte, error) {
	var incomplete []runLine
	all := runLines(runs)
	for _, r := range all {
		if r.Bad {
			incomplete = append(incomplete, r)
		}
	}
	var b bytes.Buffer
	err := pageTemplate.Execute(&b, map[string]any{"Groups": groups, "Runs": all, "Notes": notes, "Incomplete": incomplete,
		"Legend": group.Legend})
	return b.Bytes(), err
}
