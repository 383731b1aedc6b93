package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// startForJobs runs two schedulers and two workers, which run any command, and returns where they are found.
func startForJobs(t *testing.T) (address string) {
	t.Helper()
	return running(t, "scheduler.replicas=2", `process.allow=["/bin/", "/usr/bin/"]`, `process.cgroup="off"`,
		"process.user="+strconv.Quote(strconv.Itoa(os.Geteuid())), "worker.spool="+quoted(t.TempDir())).Address()
}

// jobsCluster returns a function that runs a command line about such a cluster.
func jobsCluster(t *testing.T) func(args ...string) (stdout, stderr string, code int) {
	t.Helper()
	address := startForJobs(t)
	return func(args ...string) (string, string, int) {
		return dodoor(append([]string{args[0], "-datastore", address}, args[1:]...)...)
	}
}

// A job's life, in the commands of a person: submitted, waited for, looked at, read, run again, forgotten.
func TestLifeOfAJob(t *testing.T) {
	on := jobsCluster(t)
	mark := filepath.Join(t.TempDir(), "mark")
	stdout, stderr, code := on("submit", "-array", "1-40", "-name", "life", "-cores", "0.1", "-env", "MARK="+mark, "--",
		"sh", "-c", "echo line {}; [ {} != 7 ] || [ -e $MARK ]")
	id := strings.TrimSpace(stdout)
	if code != exitDone || len(id) != 13 {
		t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
	}
	step := func(code int, says string, args ...string) {
		t.Helper()
		stdout, stderr, got := on(args...)
		if got != code || !strings.Contains(stdout+stderr, says) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s", args, got, code, says, stdout, stderr)
		}
	}
	step(exitFailed, "39 of 40 tasks finished; dodoor job -datastore 127.0.0.1:", "wait", id)
	step(exitDone, `"failed":1`, "job", "-json", id)
	step(exitDone, id+".7 │ 7     │ failed", "job", id)
	step(exitDone, "life", "jobs")
	step(exitDone, "line 7\n", "logs", id+".7")
	step(exitDone, "line 7\n", "logs", "-follow", id+".7")
	all := ""
	for _, n := range []string{"1", "2", "3"} {
		all += n + "\tline " + n + "\n"
	}
	step(exitDone, all, "logs", id, "-tag")
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step(exitDone, "1 task of job "+id+": run again", "retry", "-failed", id)
	step(exitDone, "", "wait", "-quiet", id)
	out := filepath.Join(t.TempDir(), "out")
	step(exitDone, "", "logs", "-out", out, id)
	if text, err := os.ReadFile(filepath.Join(out, "40.out")); err != nil || string(text) != "line 40\n" {
		t.Errorf("%q, %v", text, err)
	}
	step(exitDone, "is forgotten", "forget", id)
	for _, command := range []string{"job", "wait", "logs", "retry", "forget"} {
		step(exitFailed, "job "+id+": no scheduler that is registered knows this job (any more)", command, id)
	}
	step(exitFailed, `no scheduler that is registered and no worker has an unfinished task "`+id+`", and there is no job of that name`,
		"cancel", id)
}

func TestCancelledJobs(t *testing.T) {
	on := jobsCluster(t)
	stdout, stderr, code := on("submit", "-cores", "1", "--", "sleep", ":::", "1001", "1002", "1003", "1004", "1005", "1006")
	id := strings.TrimSpace(stdout)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{exitFailed, "6 open tasks: cancel it first", []string{"forget", id}},
		{exitDone, id + ".2 is being cancelled by scheduler-", []string{"cancel", id + ".2"}},
		{exitDone, " tasks of job " + id + ": being cancelled", []string{"cancel", id}},
		{exitFailed, "0 of 6 tasks finished", []string{"wait", id}},
		{exitFailed, "has no open task", []string{"cancel", id}},
	} {
		if stdout, stderr, code := on(c.args...); code != c.code || !strings.Contains(stdout+stderr, c.says) {
			t.Errorf("%q: exit code %d, want %q\n%s%s", c.args, code, c.says, stdout, stderr)
		}
	}
}

// What no worker allows is refused before anything is submitted, with the setting to change.
func TestCommandsThatNobodyAllows(t *testing.T) {
	on := jobsCluster(t)
	program := write(t, "program", "#!/bin/sh\n")
	if err := os.Chmod(program, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"submit", "--", program}, {"run", "--", program}, {"submit", "-cwd", "/", "--", "true"}} {
		stdout, stderr, code := on(args...)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, "none of 2 workers runs this: ") ||
			!strings.Contains(stderr, "process.") {
			t.Errorf("%q: exit code %d: %s%s", args, code, stdout, stderr)
		}
	}
	if stdout, _, code := on("jobs"); code != exitDone || stdout != "" {
		t.Errorf("there are jobs: %s", stdout)
	}
}

// The same line runs on a cluster, and waits there.
func TestRunThere(t *testing.T) {
	on := jobsCluster(t)
	for _, command := range [][]string{{"run"}, {"submit", "-wait"}} {
		stdout, stderr, code := on(append(command, "-k", "-tag", "-cores", "0.5", "--", "echo", "{}!", ":::", "a", "b", "c")...)
		if code != exitDone || stdout != "a\ta!\nb\tb!\nc\tc!\n" || stderr != "" {
			t.Errorf("%q: exit code %d: %q, %s", command, code, stdout, stderr)
		}
	}
}
