package profile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dodoor/conf"
	"dodoor/internal/version"
	"dodoor/internal/wholefile"
	"dodoor/report/plots"
)

// measured returns the jobs that the catalogue is made of: those of which no run failed.
func (p *Profiling) measured() []*job {
	var jobs []*job
	for i := range p.jobs {
		if j := &p.jobs[i]; len(j.runs) > 0 && j.err == nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// Write writes the catalogue, a file of task types, and the picture of the spread beside it, and returns the figures.
// Where nothing was measured there is nothing to write.
func (p *Profiling) Write(path string) ([]Figures, error) {
	jobs := p.measured()
	if len(jobs) == 0 {
		return nil, errors.New("nothing was measured, so nothing was written")
	}
	spreads, notes := map[string]*Spread{}, map[string]string{}
	var types []conf.TaskType
	var lines []plots.SpreadLine
	for _, j := range jobs {
		if n := len(types); n == 0 || types[n-1].Name != j.typ.Name {
			types = append(types, conf.TaskType{Name: j.typ.Name, Executor: j.typ.Executor, Image: j.typ.Image, Argv: j.typ.Argv})
		}
		t := &types[len(types)-1]
		t.Modes = append(t.Modes, conf.Mode{Name: j.mode.Name, Argv: j.mode.Argv,
			Profiles: []conf.Profile{{Class: p.class.Name, Shape: j.figures()}}})
		spreads[j.String()], notes[j.String()] = spreadOf(j), j.note()
		line := plots.SpreadLine{Type: j.typ.Name}
		for _, r := range j.runs {
			line.Seconds = append(line.Seconds, r.Total.Seconds())
		}
		lines = append(lines, line)
	}
	text := Text(types, p.head(), func(typ, mode, _ string) string { return notes[typ+" "+mode] })
	var picture bytes.Buffer
	if err := plots.DrawSpread(&picture, "Run times on class "+p.class.Name, lines); err != nil {
		return nil, err
	}
	return List(types, spreads), errors.Join(wholefile.WritePublic(path, text), wholefile.WritePublic(pictureBeside(path), picture.Bytes()))
}

// head says in the catalogue where its figures come from.
func (p *Profiling) head() []string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return []string{
		fmt.Sprintf("Measured by dodoor %s profile on %s (%s), %s.", version.Dodoor(), host, count(runtime.NumCPU(), "CPU"),
			time.Now().UTC().Format("2006-01-02 15:04 MST")),
		fmt.Sprintf("Class %s: one run at a time, limited to cores = %v, memory_mb = %d; %s a mode, of which %d to warm up.",
			p.class.Name, p.limit.Cores, p.limit.MemoryMB, count(p.N, "run"), p.Warmup),
		"What needs fewer cores has run again under what it needs: durations are of those runs.",
	}
}

// pictureBeside names the SVG of a catalogue.
func pictureBeside(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
