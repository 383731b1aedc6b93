package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"dodoor/conf"
)

// list reads the cells: each is the configuration with its own trace, policy, rate, number of tasks and time
// scale.
func (k *calibration) list(c *conf.Config, cells string) error {
	for word := range strings.SplitSeq(cells, ",") {
		own, err := parseCell(c, strings.TrimSpace(word))
		if err != nil {
			return fmt.Errorf("-cells: %q: %w", word, err)
		}
		if slices.ContainsFunc(k.cells, func(other *conf.Config) bool { return cellName(other) == cellName(own) }) {
			return fmt.Errorf("-cells: %q would run twice", word)
		}
		k.cells = append(k.cells, own)
	}
	return nil
}

// parseCell reads trace:policy:qps:n:time-scale.
func parseCell(c *conf.Config, word string) (*conf.Config, error) {
	parts := strings.Split(word, ":")
	if len(parts) < 5 {
		return nil, errors.New("must be trace:policy:qps:n:time-scale")
	}
	own := *c
	g, last := &own.Generator, parts[len(parts)-4:]
	g.Trace = strings.Join(parts[:len(parts)-4], ":") // a path may hold colons
	own.Scheduler.Policy = last[0]
	var failures [3]error
	g.QPS, failures[0] = strconv.ParseFloat(last[1], 64)
	g.N, failures[1] = strconv.Atoi(last[2])
	g.TimeScale, failures[2] = strconv.ParseFloat(last[3], 64)
	if err := errors.Join(failures[:]...); err != nil {
		return nil, err
	}
	if err := own.Validate(); err != nil {
		return nil, err
	}
	return &own, checkPolicy(&own, onLocal)
}

// cellName names the directories of a cell's runs.
func cellName(c *conf.Config) string {
	g := &c.Generator
	return fmt.Sprintf("%s-%s-qps%g-n%d-scale%g", strings.TrimSuffix(filepath.Base(g.Trace), filepath.Ext(g.Trace)), c.Scheduler.Policy, g.QPS, g.N, g.TimeScale)
}

// sameMessages bounds by how much control messages per task may differ: the last flush or push of a run may
// still be owed when it ends.
const sameMessages = 0.001

// faults says where the two sides disagree.
func (r *calibrated) faults(tolerance float64) []string {
	var all []string
	for _, d := range []struct {
		what  string
		share float64
	}{{"mean makespan", r.MakespanMeanDifference}, {"P95 makespan", r.MakespanP95Difference}} {
		if !(math.Abs(d.share) <= tolerance) {
			all = append(all, fmt.Sprintf("%s differs by %+.1f %%", d.what, 100*d.share))
		}
	}
	if local, simulated := r.Local.ControlMessagesPerTask, r.Sim.ControlMessagesPerTask; math.Abs(local-simulated) > sameMessages {
		all = append(all, fmt.Sprintf("control messages per task are %.3f and %.3f", local, simulated))
	}
	return all
}

// print writes the table, or with -json the same as an object. Its error says which cells disagree.
func (k *calibration) print(w io.Writer, rows []calibrated, tolerance float64, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		if err := e.Encode(map[string]any{"costs": k.costs, "cells": rows}); err != nil {
			return err
		}
	} else if err := k.printTable(w, rows); err != nil {
		return err
	}
	var disagreements []error
	for i := range rows {
		if all := rows[i].faults(tolerance); len(all) > 0 {
			disagreements = append(disagreements, fmt.Errorf("%s: %s", cellName(k.cells[i]), strings.Join(all, ", ")))
		}
	}
	return errors.Join(disagreements...)
}

func (k *calibration) printTable(w io.Writer, rows []calibrated) error {
	t := table.NewWriter()
	t.SetStyle(table.StyleLight)
	t.Style().Format.Header = text.FormatDefault
	t.AppendHeader(table.Row{"trace", "policy", "qps", "tasks", "scale", "mean s", "sim", "Δ", "p95 s", "sim", "Δ", "sched ms", "sim", "ctl/task", "sim"})
	var right []table.ColumnConfig
	for i := 3; i <= 15; i++ {
		right = append(right, table.ColumnConfig{Number: i, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	for _, r := range rows {
		t.AppendRow(table.Row{filepath.Base(r.Trace), r.Policy, r.QPS, r.Tasks, r.TimeScale,
			fmt.Sprintf("%.3f", r.Local.MakespanMeanS), fmt.Sprintf("%.3f", r.Sim.MakespanMeanS), fmt.Sprintf("%+.1f %%", 100*r.MakespanMeanDifference),
			fmt.Sprintf("%.3f", r.Local.MakespanP95S), fmt.Sprintf("%.3f", r.Sim.MakespanP95S), fmt.Sprintf("%+.1f %%", 100*r.MakespanP95Difference),
			fmt.Sprintf("%.3f", r.Local.SchedulingP50Ms), fmt.Sprintf("%.3f", r.Sim.SchedulingP50Ms),
			fmt.Sprintf("%.3f", r.Local.ControlMessagesPerTask), fmt.Sprintf("%.3f", r.Sim.ControlMessagesPerTask)})
	}
	_, err := fmt.Fprintf(w, "%s\nmakespans in trace time, scheduling latency (median) in wall time; control messages count as equal within %g\n"+
		"one request  scheduler %v, data service %v, worker %v: median round trip over loopback, the simulator's costs; its delay is 0\n"+
		"timers       %v late at the median; the simulator's are on time\nrows         %s\n",
		t.Render(), sameMessages, k.costs.Scheduler, k.costs.Data, k.costs.Worker, k.costs.Late, k.dir)
	return err
}
