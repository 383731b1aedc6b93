// Package calibrate compares runs of the simulator with runs of the real services: which cells are compared, their
// runs in pairs, and what the pairs say.
package calibrate

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"dodoor/conf"
)

// Cells reads comma-separated cells, each trace:policy:qps:n:time-scale: the configuration with these of
// its own.
func Cells(c *conf.Config, list string) ([]*conf.Config, error) {
	var cells []*conf.Config
	for word := range strings.SplitSeq(list, ",") {
		own, err := parse(c, strings.TrimSpace(word))
		if err != nil {
			return nil, fmt.Errorf("%q: %w", word, err)
		}
		if slices.ContainsFunc(cells, func(other *conf.Config) bool { return Name(other) == Name(own) }) {
			return nil, fmt.Errorf("%q would run twice", word)
		}
		cells = append(cells, own)
	}
	return cells, nil
}

func parse(c *conf.Config, word string) (*conf.Config, error) {
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
	return &own, own.Validate()
}

// Name names the directories of a cell's runs, but for their seeds.
func Name(c *conf.Config) string {
	g := &c.Generator
	trace := strings.TrimSuffix(filepath.Base(g.Trace), filepath.Ext(g.Trace))
	return fmt.Sprintf("%s-%s-qps%g-n%d-scale%g", trace, c.Scheduler.Policy, g.QPS, g.N, g.TimeScale)
}
