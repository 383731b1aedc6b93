package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"dodoor/worker/executor/executortest"
)

// A run on this machine prints what its tasks print, whole and where it belongs, and its exit code says how they ended.
func TestRunHere(t *testing.T) {
	script := write(t, "job.sh", "#!/bin/sh\n#DODOOR -array 1-3 -k\n#DODOOR -env 'WORD=of the script'\necho $1 $DODOOR_INDEX $WORD\n")
	lines := write(t, "lines.txt", "one\ntwo words\n")
	tasks := write(t, "tasks.ndjson",
		`{"argv": ["sh", "-c", "echo $A"], "env": {"A": "first"}}`+"\n"+`{"argv": ["cat"], "stdin": "second"}`+"\n")
	t.Setenv("DODOOR_TEST_WORD", "from here")
	for _, c := range []struct {
		what, out, err string
		code           int
		args           []string
	}{
		{"in order", "a 1\nb 2\nc 3\n", "", 0, []string{"-k", "--", "echo", "{}", "{#}", ":::", "a", "b", "c"}},
		{"without a place", "x a\n", "", 0, []string{"--", "echo", "x", ":::", "a"}},
		{"combinations", "a1\na2\nb1\nb2\n", "", 0, []string{"-k", "--", "echo", "{1}{2}", ":::", "a", "b", ":::", "1", "2"}},
		{"linked", "a1\nb2\n", "", 0, []string{"-k", "--", "echo", "{1}{2}", ":::", "a", "b", ":::+", "1", "2"}},
		{"files of entries", "one\ntwo words\n", "", 0, []string{"-k", "--", "echo", "::::", lines}},
		{"a line each, tagged", "one\tone\ntwo words\ttwo words\n", "", 0, []string{"-k", "-tag", "-each-line", lines, "--", "echo"}},
		{"a script", "x 1 of the script\nx 2 of the script\nx 3 of the script\n", "", 0, []string{"-script", script, "--", "x"}},
		{"flags of a script come first", "x 7 here\n", "", 0, []string{"-script", script, "-array", "7", "-env", "WORD=here", "--", "x"}},
		{"tasks by line", "first\nsecond", "", 0, []string{"-k", "-from", tasks}},
		{"two streams", "o\n", "e\n", 0, []string{"-quiet", "--", "sh", "-c", "echo o; echo e >&2"}},
		{"the environment", "from here\n", "", 0, []string{"--", "sh", "-c", "echo $DODOOR_TEST_WORD"}},
		{"a failure", "", "task 2 (b): failed: exit status 3\n1 of 2 tasks finished", 1,
			[]string{"-k", "--", "sh", "-c", "[ {} = a ] || exit 3", ":::", "a", "b"}},
		{"the task's own code", "", "", 7, []string{"-quiet", "-exit-code", "--", "sh", "-c", "exit 7"}},
		{"a retry", "", "", 0, []string{"-retries", "2", "-env", "F=" + filepath.Join(t.TempDir(), "f"), "--", "sh", "-c",
			"[ -e $F ] || { touch $F; exit 1; }"}},
		{"a time limit", "", "timed-out: ran past its time limit", 1, []string{"-time-limit", "50ms", "--", "sleep", "60"}},
		{"no such program", "", `dodoor run: the worker does not run this: worker here-1 has no program "nosuch-program"`, 1,
			[]string{"--", "nosuch-program"}},
		{"a demand that nobody has", "", "dodoor run: task 1 (a): no feasible node: cores: the task needs 9000 cores", 1,
			[]string{"-cores", "9000", "--", "true", ":::", "a", "b"}},
		{"too many failures", "", "3 tasks failed, as many as -max-fails allows", 1,
			append([]string{"-j", "1", "-max-fails", "3", "--", "false", ":::"}, strings.Fields(strings.Repeat("x ", 50))...)},
	} {
		stdout, stderr, code := dodoor(append([]string{"run"}, c.args...)...)
		if code != c.code || stdout != c.out || c.err == "" && stderr != "" || !strings.Contains(stderr, c.err) {
			t.Errorf("%s: exit code %d, want %d\n%q, want %q\n%s", c.what, code, c.code, stdout, c.out, stderr)
		}
	}
}

// A run that is for schedulers never happens here instead.
func TestRunAtSchedulers(t *testing.T) {
	made := filepath.Join(t.TempDir(), "made")
	_, stderr, code := dodoor("run", "-schedulers", "127.0.0.1:1", "--", "touch", made)
	if code != exitFailed || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if _, err := os.Stat(made); err == nil {
		t.Error("the task ran on this machine")
	}
}

// Nothing is left of a run: no process, no temporary file, nor of an earlier one that was killed.
func TestRunLeavesNothing(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	killed := fmt.Sprintf("dodoor-run-own.%d.1-5", executortest.Nobody)
	if err := os.MkdirAll(filepath.Join(temporary, killed, "spool"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := dodoor("run", "-out", filepath.Join(t.TempDir(), "out"), "--", "echo", "{}", ":::", "a", "b"); code != exitDone {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	began := filepath.Join(t.TempDir(), "began")
	go func() {
		executortest.Eventually(t, "the task runs", func() bool { _, err := os.Stat(began); return err == nil })
		syscall.Kill(os.Getpid(), syscall.SIGINT)
	}()
	_, stderr, code := dodoor("run", "-j", "1", "-env", "F="+began, "--", "sh", "-c", "touch $F; sleep 1000", ":::", "a", "b")
	if code != exitFailed || !strings.Contains(stderr, "interrupt: cancelling job") || !strings.Contains(stderr, "0 of 2 tasks finished") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
	if left := executortest.Descendants(); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// Outputs go to files, binary as they are, and only where something was printed.
func TestRunIntoAFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	if stdout, stderr, code := dodoor("run", "-out", folder, "-array", "4-6", "--", "sh", "-c",
		`case {} in 4) printf '\0\377';; 5) echo e >&2;; esac`); code != exitDone || stdout+stderr != "" {
		t.Errorf("exit code %d: %q, %q", code, stdout, stderr)
	}
	got := map[string]string{}
	files, _ := os.ReadDir(folder)
	for _, f := range files {
		text, _ := os.ReadFile(filepath.Join(folder, f.Name()))
		got[f.Name()] = string(text)
	}
	if len(got) != 2 || got["4.out"] != "\x00\xff" || got["5.err"] != "e\n" {
		t.Errorf("%q", got)
	}
}

func TestRunInJSON(t *testing.T) {
	stdout, _, code := dodoor("run", "-json", "-k", "--", "sh", "-c", "echo {}; [ {} = a ]", ":::", "a", "b")
	var objects []map[string]any
	for line := range strings.Lines(stdout) {
		var o map[string]any
		if err := json.Unmarshal([]byte(line), &o); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		objects = append(objects, o)
	}
	if code != exitFailed || len(objects) != 3 || objects[0]["outcome"] != "finished" || objects[1]["exit_code"] != 1.0 ||
		objects[1]["printed_bytes"] != 2.0 || objects[2]["tasks"] != 2.0 || objects[2]["failed"] != 1.0 {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

// Whoever reads the output may leave: the rest is cancelled, and nothing hangs.
func TestRunIntoAClosedPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	start := time.Now()
	var stderr strings.Builder
	code := dispatch([]string{"run", "-j", "2", "--", "sh", "-c", "echo {}; [ {} = 1 ] || sleep 1000", ":::", "1", "2", "3", "4"}, w, &stderr)
	if code != exitFailed {
		t.Errorf("exit code %d after %v: %s", code, time.Since(start), stderr.String())
	}
}

// A dry run prints what would run, so that a shell would run just that.
func TestDryRun(t *testing.T) {
	script := write(t, "job.sh", "#!/bin/sh\n#DODOOR -array 2-6:2\n")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--", "gzip", "-k", "{}", ":::", "a b.log", "c.log"}, "gzip -k 'a b.log'\ngzip -k c.log\n"},
		{[]string{"--", "convert", "{}", "{.}.png", "{/}", "{#}", ":::", "d/x.jpg"}, "convert d/x.jpg d/x.png x.jpg 1\n"},
		{[]string{"-script", script, "--", "n{}"}, script + " n2\n" + script + " n4\n" + script + " n6\n"},
		{[]string{"--", "true"}, "true\n"},
	} {
		for _, command := range []string{"run", "submit"} {
			stdout, stderr, code := dodoor(append([]string{command, "-dry-run"}, c.args...)...)
			if code != exitDone || stdout != c.want || stderr != "" {
				t.Errorf("%s %q: exit code %d: %q, want %q; %s", command, c.args, code, stdout, c.want, stderr)
			}
		}
	}
}

// Wrong jobs end with exit code 2 and a line that says what and where, before anything runs.
func TestWrongJobs(t *testing.T) {
	bad := write(t, "bad.ndjson", `{"argv": ["true"]}`+"\n"+`{"argv": "true"}`+"\n")
	script := write(t, "job.sh", "#!/bin/sh\n#DODOOR -cores many\n")
	for _, c := range []struct {
		says string
		args []string
	}{
		{"there is no command", nil},
		{"there is no command", []string{":::", "a"}},
		{"there is no list of entries", []string{"--", "ls", "{}"}},
		{"has {3}, and there are 1 lists", []string{"--", "ls", "{3}", ":::", "a"}},
		{"::: has no entries", []string{"--", "ls", ":::"}},
		{"/nowhere: no such file", []string{"-each-line", "/nowhere", "--", "ls"}},
		{"has no entries", []string{"--", "ls", "::::", os.DevNull}},
		{"entry 1 has 65537 bytes", []string{"--", "ls", ":::", strings.Repeat("x", 1<<16+1)}},
		{bad + ": line 2: is no task", []string{"-from", bad}},
		{"leave out -script, -each-line and a command", []string{"-from", bad, "--", "ls"}},
		{"has one list of tasks", []string{"-from", bad, "-array", "1-2"}},
		{"one or the other", []string{"-each-line", bad, "-array", "1-2", "--", "ls"}},
		{"an array and a list", []string{"-array", "1-2", "--", "ls", ":::", "a"}},
		{"goes down", []string{"-array", "2-1", "--", "ls"}},
		{script + ": #DODOOR: ", []string{"-script", script}},
		{"-array is empty: there is nothing to run", []string{"-array", "", "--", "ls"}},
		{"has no value here", []string{"-env", "DODOOR_NO_SUCH", "--", "ls"}},
		{"whole milliseconds", []string{"-time-limit", "1us", "--", "ls"}},
		{"multiples of 0.001", []string{"-cores", "0.0001", "--", "ls"}},
		{"cannot be negative", []string{"-retries", "-1", "--", "ls"}},
		{"at most 65536", []string{"-crash-limit", "5000000000", "--", "ls"}},
		{"-name has 257 bytes", []string{"-name", strings.Repeat("n", 257), "--", "ls"}},
		{"can be read once", []string{"-stdin", "-", "-each-line", "-", "--", "ls"}},
		{"-exit-code is for one task", []string{"-exit-code", "--", "ls", ":::", "a", "b"}},
		{"-tag is for what is printed", []string{"-tag", "-json", "--", "ls"}},
	} {
		for _, command := range []string{"run", "submit"} {
			args := append([]string{command}, c.args...)
			if command == "submit" {
				args = append([]string{command, "-wait"}, c.args...)
			}
			if _, stderr, code := dodoor(args...); code != exitUsage || !strings.Contains(stderr, c.says) {
				t.Errorf("%.80q: exit code %d, says %q; want %q", args, code, stderr, c.says)
			}
		}
	}
	if _, stderr, _ := dodoor("run", "-script", script); strings.Count(stderr, "\n") != 1 {
		t.Errorf("a wrong line of a script: %q, want one line", stderr)
	}
	for says, args := range map[string][]string{
		"-j is for this machine": {"run", "-j", "2", "-datastore", "h:1", "--", "ls"},
		"-j -1":                  {"run", "-j", "-1", "--", "ls"},
		"for a cluster":          {"run", "-set", "seed=2", "--", "ls"},
		"is for whoever waits":   {"submit", "-tag", "--", "ls"},
		"go with -type":          {"submit", "-mode", "short", "--", "ls"},
		"leave out the command":  {"submit", "-type", "sleep", "--", "ls"},
		"absolute path":          {"submit", "-cwd", "x", "--", "ls"},
		"of one task":            {"logs", "-attempt", "1", "-datastore", "127.0.0.1:1", "j"},
		"which job?":             {"wait"},
	} {
		if _, stderr, code := dodoor(args...); !strings.Contains(stderr, says) || code != exitUsage && args[0] != "logs" {
			t.Errorf("%q: exit code %d, says %q; want %q", args, code, stderr, says)
		}
	}
}
