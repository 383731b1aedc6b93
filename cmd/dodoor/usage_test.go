package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/generator"
	"dodoor/internal/needs"
	"dodoor/report/reporttest"
)

func requireStressNG(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("stress-ng"); err != nil {
		needs.Real(t, fmt.Errorf("%w: apt-get install stress-ng", err))
	}
}

// rowsIn reads the rows of the only run in a directory.
func rowsIn(t *testing.T, out string) []generator.Row {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(out, "*", "tasks.csv"))
	if err != nil || len(files) != 1 {
		t.Fatalf("runs in %s: %v, %v", out, files, err)
	}
	return reporttest.Rows(t, filepath.Dir(files[0]))
}

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Wrong usage and configuration end with exit code 2 and an error that says what and where.
func TestWrongUsage(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	class := "[[class]]\nname = \"c\"\ncores = 2\nmemory_mb = 1024\n[[task_type]]\nname = \"simulated\"\n"
	for _, c := range []struct {
		what string
		args []string
		says string
	}{
		{"no command", nil, "Usage"},
		{"unknown command", []string{"locla"}, `no command is called "locla"`},
		{"unknown flag", []string{"local", "-frobnicate"}, "frobnicate"},
		{"stray argument", []string{"local", "paper"}, `unexpected argument "paper"`},
		{"unknown profile", []string{"local", "-conf", "papre"}, "paper-as-run"},
		{"unknown key", []string{"local", "-conf", write(t, "a.toml", class+"[scheduler]\nb_detla = 4\n")},
			"a.toml:8: scheduler.b_detla: unknown key: did you mean b_delta?"},
		{"wrong type", []string{"local", "-conf", write(t, "b.toml", "[datastore]\nb = \"many\"\n"+class)}, "b.toml:2: datastore.b"},
		{"b = 0", []string{"local", "-set", "datastore.b=0"}, "datastore.b"},
		{"alpha = 2", []string{"local", "-set", "score.alpha=2"}, "score.alpha"},
		{"no workers", []string{"local", "-conf", write(t, "c.toml", "seed = 1\n")}, "class"},
		{"unknown policy", []string{"local", "-policy", "magic"}, `-set scheduler.policy="magic": must be "dodoor", "dodoor+", `},
		{"port in use", []string{"datastore", "-listen", taken.Addr().String()}, "address already in use"},
		{"http port in use", []string{"local", "-n", "200", "-http", taken.Addr().String()}, "address already in use"},
		{"worker without a class", []string{"worker", "-conf", "local"}, "m510"},
		{"no trace", []string{"local", "-trace", "/nowhere/trace.csv"}, "no such file"},
		{"more than the trace has", []string{"local", "-n", "200", "-trace", write(t, "t.csv", "0,1,10,0,100,0,simulated,short\n")},
			"the trace has 1"},
		{"empty trace", []string{"local", "-trace", write(t, "t.csv", "")}, "no request"},
		{"missing column", []string{"local", "-trace", write(t, "t.csv", "id,cores,memoryMB,diskMB,startMs,type,mode\n")}, "durationMs"},
		{"negative duration", []string{"local", "-trace", write(t, "t.csv", "0,1,10,0,-5,0,simulated,short\n")}, "line 1"},
		{"NaN cores", []string{"local", "-trace", write(t, "t.csv", "0,NaN,10,0,5,0,simulated,short\n")}, "cores"},
		{"duplicate ids", []string{"local", "-trace", write(t, "t.csv", "7,1,10,0,5,0,simulated,short\n7,1,10,0,5,1,simulated,short\n")}, `"7"`},
		{"endless line", []string{"local", "-trace", write(t, "t.csv", strings.Repeat("1", 1<<20))}, "longer than"},
		{"wrong verb", []string{"conf", "frob"}, "it is check, show, hosts, cloudlab or clusters"},
		{"no inventory", []string{"conf", "hosts", "local"}, "this configuration has no [[host]]"},
		{"no manifest", []string{"conf", "cloudlab", "/nowhere/manifest.xml"}, "no such file"},
		{"nobody's part", []string{"worker", "-conf", "cluster-example", "-as", "me"}, `has no worker called "me": there are node-1, `},
		{"a strange host", []string{"host", "status", "-conf", "../../conf/cluster-example.toml", "-host", "me"}, `has no host "me"`},
		{"nobody to check", []string{"host", "check", "node-1"}, `unexpected argument "node-1": hosts go with -dial`},
		{"nothing to run on a host", []string{"host", "run"}, "what to run?"},
		{"nothing to do on a host", []string{"host"}, "dodoor host up -folder"},
		{"a whole number out of range", []string{"local", "-set", "seed=99999999999999999999"}, "number out of range"},
		{"a number out of range", []string{"local", "-qps", "1e400"}, "number out of range"},
		{"no place for the rows", []string{"local", "-n", "200", "-out", "/dev/null/rows"}, "directory for the rows"},
		{"a cluster by name and address", []string{"nodes", "-cluster", "lab", "-datastore", "h:1"}, "-cluster names a cluster, and "},
		{"a cluster by name and file", []string{"replay", "-cluster", "lab", "-conf", "single"}, "leave out one of them"},
		{"a cluster by name and key", []string{"tasks", "-cluster", "lab", "-set", "datastore.address=h:1"}, "leave out one of them"},
		{"no such cluster", []string{"cancel", "-cluster", "lab", "a"},
			`-cluster: no cluster is called "lab": /dev/null/dodoor/config.toml has none`},
		{"a cluster without a name", []string{"drain", "-cluster", "", "a"}, `-cluster: no cluster is called ""`},
		{"a service of a named cluster", []string{"worker", "-cluster", "lab"}, "-cluster"},
		{"no clusters to list", []string{"conf", "clusters"}, "no clusters: /dev/null/dodoor/config.toml has none; write there"},
		{"clusters of a configuration", []string{"conf", "clusters", "lab.toml"}, `unexpected argument "lab.toml"`},
		{"flag value", []string{"submit", "-cores", "lots"}, "cores"},
	} {
		_, stderr, code := dodoor(c.args...)
		if code != exitUsage || !strings.Contains(stderr, c.says) {
			t.Errorf("%s: exit code %d, says %q; want %d and %q", c.what, code, stderr, exitUsage, c.says)
		}
	}
}

// Help comes once, and commands about a running cluster do not repeat the configuration's warnings.
func TestSaidOnce(t *testing.T) {
	for _, command := range []string{"drain", "cancel", "submit"} {
		if _, stderr, code := dodoor(command, "-h"); code != exitDone || strings.Count(stderr, "Example:") != 1 {
			t.Errorf("%s -h: exit code %d\n%s", command, code, stderr)
		}
	}
	odd := []string{"-set", "scheduler.b_delta=99", "-datastore", "127.0.0.1:1"}
	if _, stderr, _ := dodoor(append([]string{"nodes"}, odd...)...); strings.Contains(stderr, "b_delta") {
		t.Errorf("nodes warns of what is no business of its: %s", stderr)
	}
	if stdout, _, _ := dodoor("conf", "check", "local", "-set", "scheduler.b_delta=99"); !strings.Contains(stdout, "b_delta") {
		t.Errorf("conf check says nothing of b_delta: %s", stdout)
	}
	if stdout, _, code := dodoor("conf", "check", "local", "-set", "scheduler.policy=oracle"); code != exitDone ||
		!strings.Contains(stdout, "scheduler.policy: the oracle") {
		t.Errorf("conf check, exit code %d, says nothing of the oracle: %s", code, stdout)
	}
	if stdout, _, _ := dodoor("conf", "check", "single"); !strings.Contains(stdout, "1 worker in 1 class, 2 task types,") {
		t.Errorf("conf check says %s", stdout)
	}
}

// Every command explains itself with an example.
func TestHelp(t *testing.T) {
	for _, c := range commands {
		if c.name == "version" {
			continue
		}
		stdout, stderr, code := dodoor(c.name, "-h")
		if code != exitDone || !strings.Contains(stdout+stderr, "dodoor "+c.name) || !strings.Contains(stdout+stderr, "Example") {
			t.Errorf("%s -h: exit code %d\n%s%s", c.name, code, stdout, stderr)
		}
	}
}

func TestConfCommands(t *testing.T) {
	for _, profile := range []string{"local", "paper", "paper-as-run", "single"} {
		if stdout, stderr, code := dodoor("conf", "check", profile); code != exitDone || !strings.Contains(stdout, "is valid") {
			t.Errorf("check %s: exit code %d: %s%s", profile, code, stdout, stderr)
		}
	}
	shown, _, code := dodoor("conf", "show", "paper", "-set", "score.alpha=0.25")
	if code != exitDone || !strings.Contains(shown, "alpha = 0.25") {
		t.Errorf("show: exit code %d\n%s", code, shown)
	}
	if again, stderr, code := dodoor("conf", "show", write(t, "shown.toml", shown)); code != exitDone || again != shown {
		t.Errorf("what show prints does not load to the same configuration (exit code %d): %s", code, stderr)
	}
}

func TestVersion(t *testing.T) {
	stdout, _, code := dodoor("version")
	if code != exitDone || !strings.Contains(stdout, "dodoor ") || !strings.Contains(stdout, "thrift") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestEveryCommandWithARateTakesBursts(t *testing.T) {
	for _, command := range []string{"local", "simulate", "replay", "compare"} {
		_, stderr, code := dodoor(command, "-burst", "11")
		if code != exitUsage || !strings.Contains(stderr, "generator.burst=11: must be between 1 and 10, found 11") {
			t.Errorf("%s -burst 11: exit code %d, %q", command, code, stderr)
		}
	}
}
