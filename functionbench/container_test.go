package functionbench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"dodoor/internal/needs"
)

const image = "dodoor/functionbench:latest"

// patience ends a container that hangs; the short mode takes about a second.
const patience = 2 * time.Minute

// outcome is how a container ended.
type outcome struct {
	exit           int
	stdout, stderr string
}

// line is the line that a task prints.
type line struct {
	Task         string                     `json:"task"`
	Mode         string                     `json:"mode"`
	Checksum     string                     `json:"checksum"`
	Property     map[string]json.RawMessage `json:"property"`
	Seconds      float64                    `json:"seconds"`
	Startup      float64                    `json:"startup"`
	CPUSeconds   float64                    `json:"cpu_seconds"`
	PeakMemoryMB float64                    `json:"peak_memory_mb"`
	Threads      int                        `json:"threads"`
}

// needImage skips a test where there is nothing to run; where everything has to be checked it fails.
func needImage(t *testing.T) {
	t.Helper()
	if got := docker(t, "version", "--format", "{{.Server.Version}}"); got.exit != 0 {
		needs.Real(t, fmt.Errorf("no docker engine answers: %s", got.stderr))
	}
	if got := docker(t, "image", "inspect", "--format", "{{.Id}}", image); got.exit != 0 {
		needs.Real(t, fmt.Errorf("there is no image %s: run scripts/functionbench-image", image))
	}
}

// docker runs the command line client.
func docker(t *testing.T, args ...string) outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "docker", args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		t.Fatalf("docker %s: %v", strings.Join(args, " "), ctx.Err())
	case errors.As(err, &ended):
		return outcome{ended.ExitCode(), stdout.String(), stderr.String()}
	case err != nil:
		return outcome{-1, "", err.Error()} // no client
	}
	return outcome{0, stdout.String(), stderr.String()}
}

// run gives a task what a worker gives it, and no more: part of the machine, and none of its network,
// its files or its privileges.
func run(t *testing.T, cpus string, memoryMB int, argv ...string) outcome {
	t.Helper()
	memory := fmt.Sprintf("%dm", memoryMB)
	args := []string{"run", "--name", ownName(t), "--rm", "--cpus", cpus, "--memory", memory, "--memory-swap", memory,
		"--network", "none", "--read-only", "--tmpfs", "/tmp:size=64m", "--user", "65534:65534", "--cap-drop", "ALL",
		"--security-opt", "no-new-privileges", "--pids-limit", "256", image}
	return docker(t, append(args, argv...)...)
}

// ownName returns the name of a container that does not outlive the test, whatever ends it.
func ownName(t *testing.T) string {
	name := fmt.Sprintf("functionbench-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() { _ = exec.Command("docker", "rm", "--force", name).Run() }) // usually gone already
	return name
}

// parse checks that a task went well and returns the one line that it prints.
func parse(t *testing.T, got outcome) line {
	t.Helper()
	if got.exit != 0 || strings.Count(got.stdout, "\n") != 1 {
		t.Fatalf("exit code %d, want 0 and one line: stdout %q, stderr %q", got.exit, got.stdout, got.stderr)
	}
	var l line
	decoder := json.NewDecoder(strings.NewReader(got.stdout))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&l); err != nil {
		t.Fatalf("%v in %s", err, got.stdout)
	}
	return l
}

// number returns a property that is a number.
func (l line) number(t *testing.T, name string) float64 {
	t.Helper()
	var value float64
	if err := json.Unmarshal(l.Property[name], &value); err != nil {
		t.Fatalf("property %s of %s: %v", name, l.Task, err)
	}
	return value
}
