package nemesis

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/sim"
)

var (
	oneSeed   = flag.Uint64("seed", 0, "this seed alone")
	firstSeed = flag.Uint64("first", 1, "the first seed")
	seeds     = flag.Int("seeds", 3, "so many seeds, unless -time is over before")
	limit     = flag.Duration("time", 0, "no new seed begins after this time; 0: no limit")
	replayed  = flag.String("history", "", "checks the history in this file once more, and runs nothing")
	keep      = flag.Bool("keep", false, "keep what services said of seeds that passed, too")
)

// outFolder is where failures leave what is known of them.
const outFolder = "../../out/chaos"

// This program is also the clients and the proxies of a scenario.
func TestMain(m *testing.M) {
	serve := func(do func(string) error, what string) {
		if err := do(what); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	if path := os.Getenv(errandVariable); path != "" {
		serve(serveErrand, path)
	}
	if text := os.Getenv(detourVariable); text != "" {
		serve(serveDetour, text)
	}
	os.Exit(m.Run())
}

// shape is of scenarios that take some ten seconds here.
func shape(seed uint64) chaos.Shape {
	s := chaos.Brief(seed)
	s.Hows = hows
	return s
}

// hostNames are those of the largest scenario.
func hostNames() []string {
	names := []string{sim.FaultDatastore}
	for i := range 4 {
		names = append(names, cluster.SchedulerName(i), cluster.WorkerName("small", i), cluster.WorkerName("client", i))
	}
	for i := range 2 {
		names = append(names, cluster.WorkerName("large", i))
	}
	return names
}

// Whatever goes wrong, nothing is lost, and nothing happens twice that must not.
func TestChaos(t *testing.T) {
	if *replayed != "" {
		checkAgain(t, *replayed)
		return
	}
	if testing.Short() {
		t.Skip("real processes take their time")
	}
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	l := newLab(t, hostNames())
	first, n := *firstSeed, *seeds
	if *oneSeed > 0 {
		first, n = *oneSeed, 1
	}
	begun, played := time.Now(), 0
	for seed := first; seed < first+uint64(n) && ctx.Err() == nil; seed++ {
		if *limit > 0 && time.Since(begun) > *limit {
			break
		}
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { one(ctx, t, l, seed) })
		played++
	}
	if ctx.Err() != nil {
		t.Error("interrupted")
	}
	t.Logf("%d seeds in %v", played, time.Since(begun).Round(time.Second))
}

// one plays the scenario of a seed and checks what came of it.
func one(ctx context.Context, t *testing.T, l *lab, seed uint64) {
	out, err := filepath.Abs(filepath.Join(outFolder, fmt.Sprint(seed)))
	if err != nil {
		t.Fatal(err)
	}
	begun, said := time.Now(), filepath.Join(l.folder, "out")
	if err := errors.Join(os.RemoveAll(out), os.RemoveAll(said)); err != nil {
		t.Fatal(err)
	}
	h, err := l.play(ctx, chaos.Plan(seed, shape(seed)), said)
	if ctx.Err() != nil {
		t.Fatal("interrupted")
	}
	t.Logf("%s, %v", summary(h), time.Since(begun).Round(time.Millisecond))
	failed := report(t, h, err, filepath.Join(out, "history.jsonl"))
	if failed || *keep {
		t.Logf("what services said: %s (%v)", out, os.CopyFS(out, os.DirFS(said)))
	}
	if failed {
		t.Logf("once more: go test ./chaos/nemesis -run TestChaos -seed %d -v", seed)
	}
}

// report writes the history, tells what is wrong with it, and whether something is.
func report(t *testing.T, h chaos.History, problem error, path string) bool {
	var found []chaos.Violation
	if len(h) > 0 {
		found = chaos.Check(h)
	}
	if problem == nil && len(found) == 0 {
		return false
	}
	if problem != nil {
		t.Error(problem)
	}
	for _, v := range found {
		t.Error(v)
		for _, record := range h.About(v.Task) {
			t.Logf("  %+v", record)
		}
	}
	if len(h) == 0 {
		return true
	}
	for _, f := range h.Scenario().Faults {
		t.Logf("fault: %+v", f)
	}
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	file, failure := os.Create(path)
	if err = errors.Join(err, failure); err == nil {
		err = errors.Join(h.Write(file), file.Close())
	}
	t.Logf("the history: %s (%v); once more: go test ./chaos/nemesis -history %[1]s", path, err)
	return true
}

// summary tells what happened in a history.
func summary(h chaos.History) string {
	if len(h) == 0 {
		return "nothing happened"
	}
	counts := map[string]int{}
	for i := range h {
		counts[h[i].Kind]++
	}
	s := h.Scenario()
	var ways []string
	for i := range s.Faults {
		how := s.Faults[i].How
		if how == sim.Dies {
			how = "dies"
		}
		ways = append(ways, s.Faults[i].What+" "+how)
	}
	return fmt.Sprintf("%s, %d schedulers, %d workers, %d tasks (%d executions, %d results, %d missed): %s", s.Policy, s.Schedulers,
		len(s.Workers), len(s.Tasks), counts[chaos.Executed], counts[chaos.Collected], counts[chaos.Missed], strings.Join(ways, ", "))
}

// checkAgain checks a history from a file.
func checkAgain(t *testing.T, path string) {
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	h, err := chaos.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range chaos.Check(h) {
		t.Error(v)
	}
	if err := served(h); err != nil {
		t.Error(err)
	}
}
