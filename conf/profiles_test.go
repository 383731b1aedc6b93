package conf

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
)

func TestEveryProfileLoads(t *testing.T) {
	for _, name := range Profiles() {
		c, err := Load(name, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if w := c.Warnings(); len(w) > 0 {
			t.Errorf("%s: %v", name, w)
		}
		if again := reload(t, c); !reflect.DeepEqual(again, c) {
			t.Errorf("%s does not survive printing", name)
		}
		if fromDisk, err := Load("./"+name+".toml", nil); err != nil || !reflect.DeepEqual(fromDisk, c) {
			t.Errorf("%s: the file and the embedded profile differ (%v)", name, err)
		}
	}
}

func TestEveryFileIsEmbedded(t *testing.T) {
	files, err := filepath.Glob("*.toml")
	if err != nil {
		t.Fatal(err)
	}
	known := append(Profiles(), embedded(catalogs)...)
	for _, file := range files {
		if !slices.Contains(known, strings.TrimSuffix(file, ".toml")) {
			t.Errorf("%s is not embedded", file)
		}
	}
	if len(files) != len(known) {
		t.Errorf("files are %v, embedded are %v", files, known)
	}
}

// "100 workers + 1 d6515 control node hosting the data service and 5 independent scheduler
// processes ... up to 8 RPC messages concurrently ... 16 RPC clients at worker nodes; 100 warm-up
// requests ... b=100 (cluster size), alpha=0.5 (no bias), and b_Delta=8" (Sec. 6.1, Table 1).
func TestPaperProfile(t *testing.T) {
	c, err := Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	type figures struct {
		replicas, b, bDelta, scheduler, datastore, worker, warmup int
		alpha                                                     float64
		coalesce, corrected                                       bool
	}
	got := figures{c.Scheduler.Replicas, c.Datastore.B, c.Scheduler.BDelta, c.Scheduler.MaxRPCs, c.Datastore.MaxRPCs,
		c.Worker.MaxRPCs, c.Generator.Warmup, scoreOf(c).Alpha, c.RPC.Coalesce, c.Scheduler.SelfCorrection}
	if want := (figures{5, 100, 8, 8, 8, 16, 100, 0.5, false, false}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	nodes, cores := 0, 0.0
	for _, class := range c.Classes {
		nodes += class.Count
		cores += float64(class.Count) * class.Cores
		if c.SlotsOn(class) != int(class.Cores) {
			t.Errorf("%s has %d slots, want one per core", class.Name, c.SlotsOn(class))
		}
	}
	if nodes != 100 || cores != 1334 {
		t.Errorf("%d nodes with %g cores, want 100 with 1334", nodes, cores)
	}
	asRun, err := Load("paper-as-run", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Datastore.B, c.Scheduler.BDelta = 50, 4
	if !reflect.DeepEqual(asRun, c) {
		t.Error("paper-as-run differs from paper in more than b = 50 and b_delta = 4")
	}
	lean, err := Load("dodoor+lean", nil)
	if err != nil {
		t.Fatal(err)
	}
	c.Scheduler.Policy, c.Datastore.B, c.Scheduler.BDelta = "dodoor+", 1600, 32
	if !reflect.DeepEqual(lean, c) {
		t.Error("dodoor+lean differs from paper in more than the policy, b = 1600 and b_delta = 32")
	}
}

// Table 2 of the paper: ranges over the node classes in the short mode.
func TestFunctionBenchMatchesThePaper(t *testing.T) {
	c, err := Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{
		"float_operation":     "1-2 cores, 8-8 MB, 219-349 ms",
		"pyaes_generation":    "1-2 cores, 9-11 MB, 222-362 ms",
		"linpack":             "4-14 cores, 29-35 MB, 372-595 ms",
		"matmul":              "4-14 cores, 37-41 MB, 456-699 ms",
		"chameleon_rendering": "2-2 cores, 37-38 MB, 569-966 ms",
		"rnn_name_generation": "4-14 cores, 467-470 MB, 1738-3132 ms",
		"lr_prediction":       "4-14 cores, 209-210 MB, 2462-4341 ms",
		"lr_train":            "4-14 cores, 212-213 MB, 3532-16201 ms",
	}
	for name, want := range table {
		var cores, memory, ms []int64
		short := typeNamed(t, c, name).Modes[0]
		for _, p := range short.Profiles {
			cores = append(cores, int64(p.Cores))
			memory = append(memory, p.MemoryMB)
			ms = append(ms, time.Duration(p.Duration).Milliseconds())
		}
		got := fmt.Sprintf("%d-%d cores, %d-%d MB, %d-%d ms", slices.Min(cores), slices.Max(cores),
			slices.Min(memory), slices.Max(memory), slices.Min(ms), slices.Max(ms))
		if short.Name != "short" || got != want {
			t.Errorf("%s %s: %s, want %s", name, short.Name, got, want)
		}
	}
}

func readShared(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(needs.Reference(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Every figure is the published one.
func TestFunctionBenchMatchesThePublishedProfile(t *testing.T) {
	var published struct {
		Tasks []struct {
			TaskTypeID   string
			InstanceInfo map[string]struct {
				ResourceVector    struct{ Cores, Memory []int64 }
				EstimatedDuration []int64
			}
		}
	}
	if err := json.Unmarshal(readShared(t, "functionbench_profile.json"), &published); err != nil {
		t.Fatal(err)
	}
	c, err := Load("paper", nil)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]cluster.TaskType{}
	for _, have := range c.TaskTypes() {
		types[have.Name] = have
	}
	if len(types) != len(published.Tasks)+1 {
		t.Errorf("%d types, want the published %d and simulated", len(types), len(published.Tasks))
	}
	for _, task := range published.Tasks {
		have := types[task.TaskTypeID]
		for i, name := range []string{"short", "medium", "long"} {
			want := map[string]cluster.Shape{}
			for class, info := range task.InstanceInfo {
				want[class] = cluster.Shape{
					Demand:   cluster.Resources{1000 * info.ResourceVector.Cores[i], info.ResourceVector.Memory[i]},
					Duration: info.EstimatedDuration[i],
				}
			}
			if mode, ok := have.Mode(name); !ok || !maps.Equal(mode.PerClass, want) {
				t.Errorf("%s %s: got %v, want %v", task.TaskTypeID, name, mode, want)
			}
		}
	}
}

// The containers have the same types and modes, so they run the same traces. The image gets a task and
// a mode.
func TestFunctionBenchInContainers(t *testing.T) {
	load := func(catalogue string) *Config {
		path := filepath.Join(t.TempDir(), "c.toml")
		text := laptop + "include = ['" + catalogue + "']"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := Load(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := load("functionbench").Types
	for i := range want {
		w := &want[i]
		w.Executor, w.Image, w.Argv = "docker", "dodoor/functionbench:latest", []string{w.Name}
		for j := range w.Modes {
			w.Modes[j] = Mode{Name: w.Modes[j].Name, Argv: []string{w.Modes[j].Name}}
		}
	}
	if got := load("functionbench-docker").Types; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFunctionBenchTraceHasKnownTypes(t *testing.T) {
	rows, err := csv.NewReader(strings.NewReader(string(readShared(t, "functionbench_trace.csv")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	c, err := Load("local", nil)
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]cluster.TaskType{}
	for _, have := range c.TaskTypes() {
		types[have.Name] = have
	}
	for _, row := range rows {
		have := types[row[6]]
		if _, ok := have.Mode(row[7]); !ok {
			t.Fatalf("row %s: no task type %s with mode %s", row[0], row[6], row[7])
		}
	}
}
