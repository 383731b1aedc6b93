package stressng

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"dodoor/internal/needs"
	"dodoor/worker/executor/confine"
	"dodoor/worker/executor/executortest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// needStressNG skips a test where stress-ng is missing, but not where everything has to be there.
func needStressNG(t *testing.T) {
	t.Helper()
	needs.Real(t, stress(t, confine.Off).Check())
	executortest.Eventually(t, "the processes of earlier tests are gone", func() bool { return len(executortest.Descendants()) == 0 })
}

// stress returns an executor under a rule of control groups.
func stress(t *testing.T, mode string) *Executor {
	t.Helper()
	rule, err := confine.New(confine.Config{Executor: "stress-ng", Worker: t.Name(), Cgroup: mode, PidsLimit: 256})
	if err != nil {
		t.Fatal(err)
	}
	e := New(rule)
	if mode == confine.Required {
		needs.Real(t, e.Check())
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
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

// watch follows this process's descendants until the returned function is called, which says for how
// long they were ready to run without a CPU.
func watch(t *testing.T) (waited func() time.Duration) {
	quit, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		delays := map[int]int64{}
		ticker := time.NewTicker(10 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				for _, pid := range executortest.Descendants() {
					var ran, waited int64
					text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
					if n, _ := fmt.Sscan(string(text), &ran, &waited); n == 2 {
						delays[pid] = waited
					}
				}
			case <-quit:
				sum := int64(0)
				for _, d := range delays {
					sum += d
				}
				result <- time.Duration(sum)
				return
			}
		}
	}()
	return func() time.Duration {
		close(quit)
		return <-result
	}
}
