package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// Whatever clusters the person has who runs the tests, these know none but their own. Nothing can be made below a device: go, which
// keeps notes among a person's configurations, would make a folder. It finds that person's settings all the same.
func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		main()
	}
	if folder, err := os.UserConfigDir(); err == nil && os.Getenv("GOENV") == "" {
		os.Setenv("GOENV", filepath.Join(folder, "go", "env"))
	}
	if folder, err := os.UserCacheDir(); err == nil && os.Getenv("GOCACHE") == "" {
		os.Setenv("GOCACHE", filepath.Join(folder, "go-build"))
	}
	os.Setenv("XDG_CONFIG_HOME", os.DevNull)
	os.Setenv("XDG_CACHE_HOME", os.DevNull) // ports come again, and with them what was seen there
	os.Unsetenv(clusterVariable)
	goleak.VerifyTestMain(m)
}

// dodoor runs a command line as a person would, and returns what it prints and its exit code.
func dodoor(args ...string) (stdout, stderr string, code int) {
	var out, err bytes.Buffer
	code = dispatch(args, &out, &err)
	return out.String(), err.String(), code
}

// Twenty real processes: each has worked, and together no more than their demand allows, by 15 %. How close they come to it
// on a machine that is not busy, the executor's own tests tell.
func TestStressNGRun(t *testing.T) {
	requireStressNG(t)
	trace := filepath.Join(t.TempDir(), "trace.csv")
	var b strings.Builder
	wanted := 0.0
	for i := range 20 {
		cores := []float64{0.5, 0.3, 0.25}[i%3]
		duration := 400 + 50*(i%5)
		wanted += cores * float64(duration)
		fmt.Fprintf(&b, "%d,%g,32,0,%d,%d,simulated,short\n", i, cores, duration, 10*i)
	}
	if err := os.WriteFile(trace, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	out := t.TempDir()
	_, stderr, code := dodoor("local", "-conf", "single", "-quiet", "-set", `http.listen=""`, "-set", "class.laptop.cores=1", "-set",
		"class.laptop.slots=4", "-trace", trace, "-n", "20", "-warmup", "0", "-qps", "5", "-out", out)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	measured := 0.0
	for _, r := range rowsIn(t, out) {
		if r.Outcome.String() != "finished" {
			t.Errorf("task %s: %v: %s", r.TaskID, r.Outcome, r.Reason)
		}
		if r.CPU == 0 {
			t.Errorf("task %s took no CPU time", r.TaskID)
		}
		measured += float64(r.CPU.Milliseconds())
	}
	if measured > 1.15*wanted {
		t.Errorf("%.0f ms of CPU time measured, the demand is %.0f core-ms", measured, wanted)
	}
}
