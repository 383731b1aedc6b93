package generator

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"dodoor/internal/cluster"
)

// RowsVersion is the version of the files of a run: it changes when a column or its meaning does.
const RowsVersion = 2

// RunInfo is run.json: everything that the rows of a run do not say. It is written when the run
// starts and again, with Ended set, when every row is on disk.
type RunInfo struct {
	RowsVersion int `json:"rows_version"` // what WriteRunInfo writes; absent from the first files, which are version 1

	Policy     string            `json:"policy"`
	On         string            `json:"on"` // local, cluster or sim
	Trace      string            `json:"trace"`
	QPS        float64           `json:"qps"`             // of trace time; 0: the trace's own times
	Burst      float64           `json:"burst,omitempty"` // above 1: arrivals come in bursts
	TraceScale float64           `json:"trace_scale"`     // divides the trace's own times
	TimeScale  float64           `json:"time_scale"`      // seconds of the trace that passed in one
	Seed       uint64            `json:"seed"`
	Tasks      int               `json:"tasks"`
	Warmup     int               `json:"warmup"`     // the first so many tasks are excluded from every figure but the counts
	Schedulers int               `json:"schedulers"` // when it began
	Classes    []ClassInfo       `json:"classes"`
	Settings   map[string]any    `json:"settings"` // the whole configuration, by section
	Versions   map[string]string `json:"versions"`
	Host       string            `json:"host"`
	Services   []ServiceInfo     `json:"services,omitempty"` // what each ran, where they were asked and verified

	Started time.Time  `json:"started"`
	Ended   *time.Time `json:"ended"` // null: the run did not end
	Stopped bool       `json:"stopped"`

	// DecisionsBefore is how many placements the data service knew of before the run.
	DecisionsBefore int64    `json:"decisions_before"`
	Before          Counters `json:"counters_before"`
	After           Counters `json:"counters_after"`
}

// ClassInfo is one class of nodes: how many there are, and what one has.
type ClassInfo struct {
	Name     string  `json:"name"`
	Nodes    int     `json:"nodes"`
	Cores    float64 `json:"cores"`
	MemoryMB int64   `json:"memory_mb"`
	Slots    int     `json:"slots"`
}

// ServiceInfo is what one service of a cluster ran: the policy and the seed of a scheduler, and b or b_delta.
type ServiceInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"` // of what of its configuration concerns it
	Policy  string `json:"policy,omitempty"`
	Seed    uint64 `json:"seed,omitempty"`
	Batch   int    `json:"batch,omitempty"`
}

// Counters are the message counters of the services at one moment. A service that did not answer has
// none.
type Counters struct {
	Schedulers map[string]map[string]int64 `json:"schedulers"` // by name
	Data       map[string]int64            `json:"data"`
}

// Of completes a description with what a replay of w by so many schedulers is before it begins. Counters start at
// nothing.
func (info RunInfo) Of(w *Workload, warmup, schedulers int) RunInfo {
	info.Tasks, info.Warmup, info.TimeScale, info.Schedulers = w.Len(), warmup, w.TimeScale(), schedulers
	info.Before = Counters{Schedulers: map[string]map[string]int64{}}
	info.After = Counters{Schedulers: map[string]map[string]int64{}}
	return info
}

// WriteRunInfo writes run.json.
func WriteRunInfo(w io.Writer, info *RunInfo) error {
	versioned := *info
	versioned.RowsVersion = RowsVersion
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(&versioned)
}

// ErrRowsVersion says that a run was written by a version of dodoor whose rows mean something else.
var ErrRowsVersion = errors.New("rows of another version")

// ReadRunInfo reads run.json and checks what every figure depends on.
func ReadRunInfo(r io.Reader) (*RunInfo, error) {
	info := RunInfo{RowsVersion: 1}
	if err := json.NewDecoder(r).Decode(&info); err != nil {
		return nil, fmt.Errorf("not a run description: %w", err)
	}
	if info.RowsVersion != RowsVersion {
		return nil, fmt.Errorf("rows_version is %d and this dodoor reads %d: %w", info.RowsVersion, RowsVersion, ErrRowsVersion)
	}
	if !(info.TimeScale > 0) {
		return nil, fmt.Errorf("time_scale is %g: it must be positive", info.TimeScale)
	}
	if info.Tasks < 0 || info.Warmup < 0 {
		return nil, fmt.Errorf("tasks is %d and warmup %d: neither can be negative", info.Tasks, info.Warmup)
	}
	for _, c := range info.Classes {
		if c.Nodes < 0 || !(c.Cores >= 0) || c.MemoryMB < 0 {
			return nil, fmt.Errorf("class %q has %d nodes of %g cores and %d MB: none can be negative", c.Name, c.Nodes, c.Cores, c.MemoryMB)
		}
	}
	return &info, nil
}

// ClassesOf counts nodes by class, in order of first appearance. Nodes of one class that differ are
// one entry each.
func ClassesOf(nodes []cluster.Node) []ClassInfo {
	var classes []ClassInfo
	at := map[ClassInfo]int{}
	for i := range nodes {
		n := &nodes[i]
		key := ClassInfo{
			Name:     n.Class,
			Cores:    float64(n.Capacity[cluster.Cores]) / 1000,
			MemoryMB: n.Capacity[cluster.Memory],
			Slots:    n.Slots,
		}
		j, ok := at[key]
		if !ok {
			j = len(classes)
			at[key] = j
			classes = append(classes, key)
		}
		classes[j].Nodes++
	}
	return classes
}
