package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

func runEstimates(args []string, stdout, stderr io.Writer) int {
	o := newOptions("estimates", "tells how long tasks are expected to run, by name and node class, and what they need",
		"dodoor estimates\ndodoor estimates -cluster lab -name gzip -json", "local", stderr)
	o.visitFlags()
	name := o.String("name", "", "names that `part` is a part of; all without it")
	most := o.Int("max", 1000, "estimates at most")
	asJSON := o.Bool("json", false, "print a JSON object per name and class")
	v, code := o.visitList(args, most)
	if code >= 0 {
		return code
	}
	defer v.close()
	list, err := v.client().Estimates(v.ctx, cluster.EstimateQuery{Name: *name, Max: min(*most, cluster.MaxEstimate)})
	switch {
	case *asJSON:
		for i := range list {
			if err := printObject(stdout, estimateObjectOf(&list[i])); err != nil {
				return o.fail(exitFailed, err)
			}
		}
	case len(list) == 0 && err == nil:
		_, err = fmt.Fprintln(stderr, "no scheduler has learned anything of such tasks: what has not finished yet teaches nothing, nor does "+
			`anything with scheduler.estimates = "given"`)
	default:
		if _, err := io.WriteString(stdout, estimateText(list)); err != nil {
			return o.fail(exitFailed, err)
		}
	}
	if err != nil {
		return o.fail(exitFailed, err)
	}
	return exitDone
}

// estimateObject is an estimate for programs.
type estimateObject struct {
	Name     string  `json:"name"`
	Class    string  `json:"class"`
	Expected int64   `json:"expected_ms"`
	Rule     string  `json:"rule"`
	Runs     int64   `json:"runs"`
	Median   int64   `json:"median_ms"`
	P95      int64   `json:"p95_ms"`
	Off      float64 `json:"off"` // a share of the estimate
	Cores    float64 `json:"cores,omitempty"`
	Memory   int64   `json:"memory_mb,omitempty"`
}

func estimateObjectOf(e *cluster.Estimate) estimateObject {
	return estimateObject{Name: e.Name, Class: e.Class, Expected: e.Duration, Rule: e.Rule.String(), Runs: e.Count, Median: e.Median,
		P95: e.P95, Off: float64(e.Off) / 1000, Cores: float64(e.Cores) / 1000, Memory: e.Memory}
}

// estimateText is a table for every name. Its columns line up on a screen of 80 columns, whatever the names of tasks are.
func estimateText(list []cluster.Estimate) string {
	var b strings.Builder
	wide := len("class")
	for i := range list {
		wide = max(wide, len(list[i].Class))
	}
	for i := range list {
		e := &list[i]
		if i == 0 || e.Name != list[i-1].Name {
			fmt.Fprintf(&b, "%s%s\n  %-*s %8s %9s %9s %9s %6s  %s\n", e.Name, needsOf(e), wide, "class", "runs", "expected", "median", "P95", "off",
				"rule")
		}
		median, p95, off := "-", "-", "-"
		if e.Count > 0 {
			median, p95, off = shortSpan(e.Median), shortSpan(e.P95), fmt.Sprintf("%d%%", min((e.Off+5)/10, 9999))
		}
		fmt.Fprintf(&b, "  %-*s %8d %9s %9s %9s %6s  %s\n", wide, e.Class, e.Count, shortSpan(e.Duration), median, p95, off, e.Rule)
	}
	return b.String()
}

// needsOf says what -cores auto and -memory auto would ask for.
func needsOf(e *cluster.Estimate) string {
	var needs []string
	if e.Cores > 0 {
		needs = append(needs, fmt.Sprintf("%.4g cores", float64(e.Cores)/1000))
	}
	if e.Memory > 0 {
		needs = append(needs, fmt.Sprintf("%d MB", e.Memory))
	}
	if len(needs) == 0 {
		return ""
	}
	return ": " + strings.Join(needs, ", ")
}

// shortSpan is a duration in at most nine letters: nobody needs the milliseconds of an hour.
func shortSpan(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	switch {
	case d >= 100*time.Hour:
		return fmt.Sprintf("%.1fd", d.Hours()/24)
	case d >= time.Hour:
		return strings.TrimSuffix(d.Round(time.Minute).String(), "0s")
	case d >= time.Minute:
		return d.Round(time.Second).String()
	}
	return d.String()
}
