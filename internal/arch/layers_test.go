package arch

import (
	"slices"
	"strings"
	"testing"
)

// A package imports packages of lower rows only.
var rows = [][]string{
	{"internal/cluster", "internal/needs", "gen-go/dodoor"},
	{"scheduler", "worker", "datastore", "generator", "internal/rpc", "internal/telemetry"},
	{"baselines", "worker/executor", "internal/rpc/rpctest",
		"scheduler/schedulerd", "worker/workerd", "datastore/datastored", "generator/drive"},
	{"sim"},
	{"report/figure"},
	{"conf", "report"},
	{"campaign", "profile"},
	{"cmd/dodoor", "functionbench"},
}

// layers says which packages of this module a package may import outside its tests. A pure package
// sees the vocabulary; a shell sees its own pure package, the wire and its metrics; policies reach
// the scheduler's shell as values, so that schedulerd and baselines never meet.
var layers = map[string][]string{
	"internal/cluster":   {},
	"gen-go/dodoor":      {},
	"internal/arch":      {},
	"internal/needs":     {}, // for tests
	"internal/rpc":       {"internal/cluster", "gen-go/dodoor"},
	"internal/telemetry": {"internal/cluster"},

	"scheduler": {"internal/cluster"},
	"worker":    {"internal/cluster"},
	"datastore": {"internal/cluster"},
	"generator": {"internal/cluster"},

	"baselines":            {"internal/cluster", "scheduler"},
	"worker/executor":      {"internal/cluster", "worker"},
	"internal/rpc/rpctest": {"internal/cluster", "gen-go/dodoor", "internal/rpc"},
	"scheduler/schedulerd": {"internal/cluster", "internal/rpc", "internal/telemetry", "scheduler"},
	"worker/workerd":       {"internal/cluster", "internal/rpc", "internal/telemetry", "worker"},
	"datastore/datastored": {"internal/cluster", "internal/rpc", "internal/telemetry", "datastore"},
	"generator/drive":      {"internal/cluster", "internal/rpc", "internal/telemetry", "generator"},

	"sim":           {"internal/cluster", "scheduler", "worker", "datastore", "generator", "baselines"},
	"conf":          below("conf", "gen-go/dodoor", "internal/needs", "internal/rpc/rpctest", "report/figure"),
	"report/figure": {},
	"report":        {"internal/cluster", "generator", "report/figure"},
	"campaign":      {"conf", "report", "report/figure"},
	"profile":       {"conf", "report"},
	"functionbench": {}, // a test of Python programs
	"cmd/dodoor":    below("cmd/dodoor", "gen-go/dodoor", "internal/needs", "internal/rpc/rpctest", "report/figure"),
}

// below lists the packages in the rows under pkg, but for some.
func below(pkg string, but ...string) []string {
	var all []string
	for _, row := range rows[:rowOf(pkg)] {
		for _, p := range row {
			if !slices.Contains(but, p) {
				all = append(all, p)
			}
		}
	}
	return all
}

// rowOf returns the index of the row that holds pkg, or -1.
func rowOf(pkg string) int {
	return slices.IndexFunc(rows, func(row []string) bool { return slices.Contains(row, pkg) })
}

// layering checks the imports of this module's own packages. Tests may look upwards.
func layering(s source) []string {
	allowed, listed := layers[s.pkg]
	if !listed {
		return []string{s.at(s.file.Name, "package %s has no place in the architecture: add it to the table in internal/arch", s.pkg)}
	}
	if s.isTest() {
		return nil
	}
	var findings []string
	for _, spec := range s.file.Imports {
		own, ok := strings.CutPrefix(imported(spec), module+"/")
		if ok && !slices.Contains(allowed, own) {
			findings = append(findings, s.at(spec, "%s must not import %s (allowed: %s)",
				s.pkg, own, strings.Join(allowed, ", ")))
		}
	}
	return findings
}

// thriftStaysInRPC holds for tests as well: whoever needs the wire asks internal/rpc.
func thriftStaysInRPC(s source) []string {
	if within(s.pkg, "internal/rpc") || s.isGenerated() {
		return nil
	}
	var findings []string
	for _, spec := range s.file.Imports {
		p := imported(spec)
		if within(p, module+"/gen-go") || within(p, "github.com/apache/thrift") {
			findings = append(findings, s.at(spec, "only internal/rpc knows Thrift: %s must not import %s", s.pkg, p))
		}
	}
	return findings
}

func TestTheTableAgreesWithTheRows(t *testing.T) {
	for pkg, allowed := range layers {
		row := rowOf(pkg)
		for _, p := range allowed {
			if below := rowOf(p); below < 0 || below >= row {
				t.Errorf("%s (row %d) may import %s (row %d): only lower rows are below it", pkg, row, p, below)
			}
		}
	}
	for _, row := range rows {
		for _, pkg := range row {
			if _, listed := layers[pkg]; !listed {
				t.Errorf("%s has a row, but no entry in the table", pkg)
			}
		}
	}
}
