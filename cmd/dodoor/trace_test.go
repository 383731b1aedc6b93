package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

func trace(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = runTrace(args, &out, &err)
	return code, out.String(), err.String()
}

func TestTraceMakesWhatItReads(t *testing.T) {
	for _, args := range [][]string{
		{"azure", "-n", "300", "-seed", "7"},
		{"functionbench", "-n", "300", "-seed", "7"},
		{"functionbench", "-n", "300", "-seed", "7", "-mix", "60/30/10", "-class", "m510"},
	} {
		code, text, messages := trace(args...)
		if code != exitDone || messages != "" {
			t.Fatalf("%v: exit code %d, %s", args, code, messages)
		}
		requests, err := generator.ReadTrace(strings.NewReader(text), cluster.Standard(), 0)
		if err != nil || len(requests) != 300 {
			t.Fatalf("%v: %d requests, %v", args, len(requests), err)
		}
		file := filepath.Join(t.TempDir(), "trace.csv")
		if code, nothing, messages := trace(append(args, "-out", file)...); code != exitDone || nothing != "" || messages != "" {
			t.Fatalf("%v: exit code %d, %s%s", args, code, nothing, messages)
		}
		if written, err := os.ReadFile(file); err != nil || string(written) != text {
			t.Errorf("%v: the file differs from standard output: %v", args, err)
		}
		code, description, messages := trace("stats", file)
		if code != exitDone || messages != "" || !strings.HasPrefix(description, "requests    300\n") {
			t.Errorf("%v: exit code %d, %s%s", args, code, description, messages)
		}
	}
}

// The columns of a FunctionBench trace are the profile of the class that was asked for.
func TestTraceFunctionBenchUsesTheProfile(t *testing.T) {
	_, text, _ := trace("functionbench", "-n", "200", "-class", "m510")
	if !strings.Contains(text, ",4,212,") || !strings.Contains(text, ",16201,") {
		t.Error("no short lr_train with the m510's 4 cores, 212 MiB and 16,201 ms")
	}
	if strings.Contains(text, "medium") || strings.Contains(text, "long") {
		t.Error("the default mix is short alone")
	}
}

func TestTraceUsage(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.csv")
	if err := os.WriteFile(bad, []byte("0,-2,1,1,1,0,a,b\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{nil, exitUsage, "dodoor trace azure -n 4000"},
		{[]string{"-h"}, exitDone, "dodoor trace azure -n 4000"},
		{[]string{"azure", "-h"}, exitDone, "dodoor trace azure -n 4000"},
		{[]string{"google"}, exitUsage, `no verb is called "google": it is azure, functionbench or stats`},
		{[]string{"azure", "-n", "0"}, exitUsage, "number of requests is 0"},
		{[]string{"azure", "-n", "1000000000000"}, exitUsage, "at most 100000000"},
		{[]string{"functionbench", "-n", "1000000000000"}, exitUsage, "at most 100000000"},
		{[]string{"azure", "-n", "many"}, exitUsage, "many"},
		{[]string{"azure", "again"}, exitUsage, `unexpected argument "again"`},
		{[]string{"azure", "-out", "/nowhere/trace.csv"}, exitFailed, "/nowhere/trace.csv"},
		{[]string{"functionbench", "-mix", "short/long"}, exitUsage, `mix "short/long"`},
		{[]string{"functionbench", "-class", "vax"}, exitUsage, `node class "vax"`},
		{[]string{"functionbench", "-conf", "/nowhere.toml"}, exitUsage, "/nowhere.toml"},
		{[]string{"stats"}, exitUsage, "needs the name of a trace file"},
		{[]string{"stats", "/nowhere.csv"}, exitUsage, "/nowhere.csv"},
		{[]string{"stats", bad}, exitUsage, `bad.csv: line 1, column cores: "-2"`},
	} {
		code, stdout, stderr := trace(c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.want) {
			t.Errorf("%v: exit code %d, %q on standard output, on standard error:\n%s", c.args, code, stdout, stderr)
		}
	}
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestTraceSaysWhenNobodyReads(t *testing.T) {
	var stderr bytes.Buffer
	if code := runTrace([]string{"azure"}, brokenPipe{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), "broken pipe") {
		t.Errorf("exit code %d, %s", code, stderr.String())
	}
}

// The samples that the repository ships are what these commands make.
func TestTraceSamples(t *testing.T) {
	for file, args := range map[string][]string{
		"azure_sample.csv":         {"azure", "-n", "300", "-seed", "1"},
		"functionbench_sample.csv": {"functionbench", "-n", "300", "-seed", "1", "-mix", "60/30/10"},
	} {
		want, err := os.ReadFile("../../generator/testdata/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if _, got, _ := trace(args...); got != string(want) {
			t.Errorf("generator/testdata/%s is not what dodoor trace %s makes", file, strings.Join(args, " "))
		}
	}
}
