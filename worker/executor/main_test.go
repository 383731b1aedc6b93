package executor

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/worker"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(crashing); name != "" {
		runUntilKilled(name)
		return
	}
	if name := os.Getenv(fallen); name != "" {
		runUntilFallen(name)
		return
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		removeImages()
		os.Exit(code)
	}))
}

// start is a task of cores, MiB and milliseconds.
func start(cores float64, memory, duration int64) worker.Start {
	return worker.Start{
		TaskID: "t", Seed: cluster.HashID("t"), TimeScale: 1,
		Shape: cluster.Shape{Demand: cluster.Resources{int64(cores * 1000), memory}, Duration: duration},
	}
}

// needStressNG skips a test where stress-ng is missing, but not where everything has to be there.
func needStressNG(t *testing.T) {
	t.Helper()
	needs.Real(t, (StressNG{}).Check())
	eventually(t, "the processes of earlier tests are gone", func() bool { return len(descendants()) == 0 })
}

// imitate puts a shell script in the place of stress-ng.
func imitate(t *testing.T, script string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, stressNG), []byte("#!/bin/sh\n"+script), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir)
}

// eventually polls for something that another process does; the test fails when it never happens.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for !holds() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			t.Fatalf("never happened: %s", what)
		}
	}
}
