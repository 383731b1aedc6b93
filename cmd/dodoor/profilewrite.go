package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"dodoor/conf"
	"dodoor/profile"
	"dodoor/report"
)

// measured returns the jobs that the catalogue is made of: those of which no run failed.
func (p *profiling) measured() []*profileJob {
	var jobs []*profileJob
	for i := range p.jobs {
		if j := &p.jobs[i]; len(j.runs) > 0 && j.err == nil {
			jobs = append(jobs, j)
		}
	}
	return jobs
}

// publish writes the catalogue and the picture of the spread, and shows the figures. Where nothing was
// measured there is nothing to write.
func (f *profileFlags) publish(stdout io.Writer, p *profiling) error {
	jobs := p.measured()
	if len(jobs) == 0 {
		return errors.New("nothing was measured, so nothing was written")
	}
	spreads, notes := map[string]*spread{}, map[string]string{}
	var types []conf.TaskType
	var lines []report.SpreadLine
	for _, j := range jobs {
		if n := len(types); n == 0 || types[n-1].Name != j.typ.Name {
			types = append(types, conf.TaskType{Name: j.typ.Name, Executor: j.typ.Executor, Image: j.typ.Image, Argv: j.typ.Argv})
		}
		t := &types[len(types)-1]
		t.Modes = append(t.Modes, conf.Mode{Name: j.mode.Name, Argv: j.mode.Argv,
			Profiles: []conf.Profile{{Class: p.class.Name, Shape: j.figures()}}})
		spreads[j.String()], notes[j.String()] = spreadOf(j), j.note()
		line := report.SpreadLine{Type: j.typ.Name}
		for _, r := range j.runs {
			line.Seconds = append(line.Seconds, r.Total.Seconds())
		}
		lines = append(lines, line)
	}
	text := profile.Text(types, p.head(), func(typ, mode, _ string) string { return notes[typ+" "+mode] })
	if err := writeWhole(f.out, text); err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := report.DrawSpread(&picture, "Run times on class "+p.class.Name, lines); err != nil {
		return err
	}
	if err := writeWhole(pictureBeside(f.out), picture.Bytes()); err != nil {
		return err
	}
	return f.show(stdout, listFigures(types, func(typ, mode string) *spread { return spreads[typ+" "+mode] }))
}

// head says in the catalogue where its figures come from.
func (p *profiling) head() []string {
	host, err := os.Hostname()
	if err != nil {
		host = "an unknown host"
	}
	return []string{
		fmt.Sprintf("Measured by dodoor %s profile on %s (%s), %s.", version, host, count(runtime.NumCPU(), "CPU", "CPUs"), time.Now().UTC().Format("2006-01-02 15:04 MST")),
		fmt.Sprintf("Class %s: one run at a time, limited to cores = %v, memory_mb = %d; %s a mode, of which %d to warm up.",
			p.class.Name, p.limit.Cores, p.limit.MemoryMB, count(p.n, "run", "runs"), p.warmup),
		"What needs fewer cores has run again under what it needs: durations are of those runs.",
	}
}

// pictureBeside names the SVG of a catalogue.
func pictureBeside(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + ".svg"
}

// writeWhole writes a file whole or not at all.
func writeWhole(path string, text []byte) error {
	partial := path + ".partial"
	if err := os.WriteFile(partial, text, 0o644); err != nil {
		return err
	}
	return os.Rename(partial, path)
}
