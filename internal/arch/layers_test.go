package arch

import (
	"slices"
	"strings"
	"testing"
)

// A package imports packages of lower rows only.
var rows = [][]string{
	{"internal/cluster", "internal/needs", "internal/procfs", "internal/transcript", "internal/runfiles", "internal/wholefile",
		"internal/version", "internal/progress", "internal/terminal", "internal/poll", "internal/placeholder", "internal/vm", "gen-go/dodoor"},
	{"internal/identity"},
	{"internal/identity/authority",
		"job", "scheduler", "worker", "datastore", "generator", "internal/cgroup", "internal/rpc", "internal/telemetry", "worker/spool"},
	{"baselines", "worker/executor", "worker/executor/executortest", "internal/keeper", "internal/procgroup", "internal/rpc/rpctest",
		"scheduler/journal", "datastore/datastored", "generator/rundir", "generator/packing", "generator/session"},
	{"sim", "scheduler/schedulerd", "internal/keeper/first", "generator/drive", "worker/workerd", "worker/executor/confine"},
	{"worker/executor/docker", "worker/executor/process", "worker/executor/stressng"},
	{"chaos", "client", "conf", "report/figure", "report/stats"},
	{"report/metrics", "report/reporttest"},
	{"report/results"},
	{"report/group"},
	{"report/plots"},
	{"report/page"},
	{"report"},
	{"assemble"},
	{"localcluster", "profile", "host"},
	{"experiment"},
	{"campaign", "experiment/calibrate"},
	{"cmd/dodoor", "functionbench", "testbed", "reliability", "chaos/nemesis"},
}

// layers says which packages of this module a package may import outside its tests. A pure package
// sees the vocabulary; a shell sees its own pure package, the wire and its metrics; policies reach
// the scheduler's shell as values, so that schedulerd and baselines never meet.
var layers = map[string][]string{
	"internal/cluster":      {},
	"gen-go/dodoor":         {},
	"internal/arch":         {},
	"internal/mutants":      {}, // tests alone
	"internal/manual":       {}, // tests alone
	"internal/needs":        {}, // for tests
	"internal/transcript":   {}, // for tests
	"internal/vm":           {}, // for tests
	"internal/runfiles":     {},
	"internal/wholefile":    {},
	"internal/poll":         {},
	"internal/placeholder":  {},
	"internal/version":      {},
	"internal/progress":     {},
	"internal/terminal":     {},
	"internal/rpc":          {"internal/cluster", "internal/identity", "internal/poll", "gen-go/dodoor"},
	"internal/telemetry":    {"internal/cluster", "internal/identity", "internal/wholefile"},
	"internal/procfs":       {},
	"internal/cgroup":       {"internal/poll", "internal/procfs"},
	"internal/procgroup":    {"internal/cgroup", "internal/procfs"},
	"internal/keeper":       {"internal/procfs"},
	"internal/keeper/first": {"internal/keeper"},

	"internal/identity":           {},
	"internal/identity/authority": {"internal/identity", "internal/wholefile"},

	"job":       {"internal/cluster", "internal/placeholder"},
	"scheduler": {"internal/cluster"},
	"worker":    {"internal/cluster"},
	"datastore": {"internal/cluster"},
	"generator": {"internal/cluster"},

	"baselines":            {"internal/cluster", "scheduler"},
	"worker/spool":         {"internal/cluster", "internal/wholefile"},
	"worker/executor":      {"internal/cluster", "internal/placeholder", "worker", "worker/spool"},
	"internal/rpc/rpctest": {"internal/cluster", "gen-go/dodoor", "internal/rpc"},
	"scheduler/journal":    {"internal/wholefile", "scheduler"},
	"scheduler/schedulerd": {"internal/cluster", "internal/poll", "internal/rpc", "internal/telemetry", "scheduler", "scheduler/journal"},
	"worker/workerd": {"internal/cluster", "internal/poll", "internal/rpc", "internal/telemetry", "worker", "worker/executor",
		"worker/spool"},
	"datastore/datastored": {"internal/cluster", "internal/poll", "internal/rpc", "internal/telemetry", "datastore"},
	"generator/rundir":     {"internal/runfiles", "internal/wholefile", "generator"},
	"generator/session":    {"internal/cluster", "internal/poll", "internal/rpc", "generator"},
	"generator/drive": {"internal/cluster", "internal/poll", "internal/progress", "internal/rpc", "internal/telemetry", "generator",
		"generator/rundir", "generator/session"},
	"generator/packing": {"internal/cluster", "generator"},

	"worker/executor/docker": {"internal/cgroup", "internal/cluster", "internal/procfs", "worker", "worker/executor", "worker/spool"},
	"worker/executor/process": {"internal/cgroup", "internal/cluster", "internal/procfs", "internal/procgroup",
		"worker", "worker/executor", "worker/executor/confine", "worker/spool"},
	"worker/executor/stressng": {"internal/cluster", "internal/procfs", "internal/procgroup", "worker", "worker/executor",
		"worker/executor/confine"},
	"worker/executor/confine":      {"internal/cgroup", "internal/procfs", "internal/procgroup", "worker", "worker/executor"},
	"worker/executor/executortest": {"internal/cluster", "internal/procfs", "worker"}, // for tests

	"sim":   {"internal/cluster", "scheduler", "worker", "datastore", "generator", "baselines"},
	"chaos": {"internal/cluster", "scheduler", "worker", "datastore", "generator", "baselines", "sim"},
	"conf": below("conf", "gen-go/dodoor", "generator/packing", "internal/version", "internal/needs", "internal/progress", "internal/runfiles",
		"internal/wholefile", "internal/rpc/rpctest", "worker/executor/executortest"),

	"client": {"generator", "generator/session", "internal/cluster", "internal/rpc", "internal/terminal",
		"internal/wholefile", "job"},

	"report/figure":     {},
	"report/stats":      {},
	"report/metrics":    {"internal/cluster", "internal/runfiles", "generator", "report/stats"},
	"report/reporttest": {"internal/cluster", "internal/runfiles", "generator"}, // for tests
	"report/results":    {"internal/runfiles", "internal/wholefile", "generator", "generator/rundir", "report/metrics"},
	"report/group":      {"report/metrics", "report/results", "report/stats"},
	"report/plots":      {"report/figure", "report/group", "report/metrics", "report/results", "report/stats"},
	"report/page":       {"report/group", "report/metrics", "report/plots", "report/results"},
	"report": {"generator/rundir", "internal/runfiles", "internal/wholefile", "report/figure", "report/group", "report/metrics", "report/page",
		"report/plots", "report/results"},

	"assemble": {"baselines", "conf", "datastore", "datastore/datastored", "generator", "internal/cgroup", "internal/cluster",
		"internal/identity", "internal/keeper", "internal/procgroup", "internal/rpc", "internal/telemetry", "internal/version", "scheduler",
		"scheduler/schedulerd", "sim", "worker", "worker/executor", "worker/executor/confine", "worker/executor/docker",
		"worker/executor/process", "worker/executor/stressng", "worker/spool", "worker/workerd"},
	"host": {"assemble", "conf", "internal/cgroup", "internal/cluster", "internal/identity", "internal/poll", "internal/procfs",
		"internal/wholefile", "worker/executor/confine"},
	"localcluster": {"assemble", "conf", "generator/drive", "internal/cluster", "internal/poll", "internal/procfs", "internal/rpc",
		"internal/telemetry", "internal/wholefile"},
	"profile": {"assemble", "conf", "internal/version", "internal/cluster", "internal/progress", "internal/wholefile", "report/plots",
		"report/stats", "worker", "worker/executor", "worker/workerd"},
	"experiment": {"assemble", "conf", "generator", "generator/drive", "generator/rundir", "internal/version", "internal/cluster",
		"internal/poll", "internal/progress", "internal/rpc", "internal/wholefile", "localcluster", "report/metrics",
		"report/results", "sim"},
	"experiment/calibrate": {"assemble", "conf", "experiment", "internal/cluster", "internal/progress", "internal/rpc", "localcluster",
		"report/metrics", "report/stats"},
	"campaign": {"conf", "experiment", "generator", "internal/cluster", "internal/runfiles", "internal/wholefile", "report/figure",
		"report/metrics", "report/stats", "sim"},

	"functionbench": {}, // a test of Python programs
	"reliability":   {}, // measures separate processes
	"testbed":       {}, // tests of scripts/cluster on hosts
	"chaos/nemesis": {}, // tests of services on hosts on which everything goes wrong
	"cmd/dodoor": {"assemble", "campaign", "client", "conf", "experiment", "experiment/calibrate", "generator", "generator/drive",
		"generator/packing", "generator/session", "host", "internal/identity", "internal/identity/authority",
		"internal/keeper", "internal/keeper/first",
		"internal/version", "internal/cluster", "internal/progress", "internal/rpc", "internal/runfiles", "internal/telemetry",
		"internal/terminal", "internal/wholefile", "job", "localcluster", "profile",
		"report", "report/metrics"},
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
