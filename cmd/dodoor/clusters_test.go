package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// personal makes text the file of the person who runs the commands, and returns its path.
func personal(t *testing.T, text string) string {
	t.Helper()
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	path := filepath.Join(home, "dodoor", "config.toml")
	if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const threeClusters = `default = "lab"
[[cluster]]
name = "lab"
datastore = "lab:1"
[[cluster]]
name = "prod"
datastore = "prod:1"
[[cluster]]
name = "own"
conf = "own.toml"
`

// The order in which a command learns where the data service is.
func TestWhichCluster(t *testing.T) {
	const none, noDefault, broken = "", "[[cluster]]\nname = \"lab\"\ndatastore = \"lab:1\"\n", "[[cluster]]\nname = \"lab\"\n"
	own := "[datastore]\naddress = \"own:1\"\n[[class]]\nname = \"c\"\ncores = 1\nmemory_mb = 1\n"
	for _, c := range []struct {
		name, file, variable string
		args                 []string
		address, says        string // of the data service, or what the error says
	}{
		{"nothing", none, "", nil, "127.0.0.1:20510", ""},
		{"names without a default", noDefault, "", nil, "127.0.0.1:20510", ""},
		{"the default", threeClusters, "", nil, "lab:1", ""},
		{"the variable before the default", threeClusters, "prod", nil, "prod:1", ""},
		{"the variable without a default", noDefault, "lab", nil, "lab:1", ""},
		{"-cluster before the variable", threeClusters, "prod", []string{"-cluster", "lab"}, "lab:1", ""},
		{"-cluster before the default", threeClusters, "", []string{"-cluster", "prod"}, "prod:1", ""},
		{"-cluster before a variable that names nothing", threeClusters, "nosuch", []string{"-cluster", "lab"}, "lab:1", ""},
		{"-datastore before the variable", threeClusters, "prod", []string{"-datastore", "h:1"}, "h:1", ""},
		{"-datastore before the default", threeClusters, "", []string{"-datastore", "h:1"}, "h:1", ""},
		{"-conf before the variable", threeClusters, "prod", []string{"-conf", "single"}, "127.0.0.1:20510", ""},
		{"-conf, though it is what it would be", threeClusters, "", []string{"-conf", "local"}, "127.0.0.1:20510", ""},
		{"-conf and -datastore", threeClusters, "prod", []string{"-conf", "single", "-datastore", "h:1"}, "h:1", ""},
		{"a key before the variable", threeClusters, "prod", []string{"-set", "datastore.address=h:1"}, "h:1", ""},
		{"where it listens before the variable", threeClusters, "prod", []string{"-set", "datastore.listen=h:1"}, "h:1", ""},
		{"a key in a table", threeClusters, "prod", []string{"-set", `datastore."address"="h:1"`}, "h:1", ""},
		{"another key", threeClusters, "prod", []string{"-set", "datastore.b=7", "-log-level", "warn"}, "prod:1", ""},
		{"a configuration", threeClusters, "own", nil, "own:1", ""},
		{"a configuration and a key", threeClusters, "own", []string{"-set", "datastore.address=h:1"}, "h:1", ""},
		{"a variable that names nothing", threeClusters, "labs", nil, "",
			`DODOOR_CLUSTER: no cluster is called "labs": did you mean lab? FILE has`},
		{"a name that names nothing", threeClusters, "lab", []string{"-cluster", "x"}, "",
			`-cluster: no cluster is called "x": FILE has lab, prod, own`},
		{"a wrong file", broken, "", nil, "", "FILE:1: cluster.lab: must have datastore"},
		{"a wrong file and -cluster", broken, "", []string{"-cluster", "lab"}, "", "FILE:1: cluster.lab: must have datastore"},
		{"a wrong file and -datastore", broken, "lab", []string{"-datastore", "h:1"}, "h:1", ""},
		{"a wrong file and -conf", broken, "lab", []string{"-conf", "local"}, "127.0.0.1:20510", ""},
		{"a wrong file and a key", broken, "lab", []string{"-set", "datastore.address = h:1"}, "h:1", ""},
	} {
		path := personal(t, c.file)
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), "own.toml"), []byte(own), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv(clusterVariable, c.variable)
		var stderr strings.Builder
		o := newOptions("nodes", "", "", "local", &stderr)
		o.visitFlags()
		if code := o.parse(c.args); code >= 0 {
			t.Fatalf("%s: exit code %d: %s", c.name, code, stderr.String())
		}
		got, _, code := o.configure()
		said := strings.ReplaceAll(stderr.String(), path, "FILE")
		switch {
		case c.says != "" && (code != exitUsage || !strings.Contains(said, c.says)):
			t.Errorf("%s: exit code %d, says %q; want %q", c.name, code, said, c.says)
		case c.says == "" && (code >= 0 || got.Datastore.DialAddress() != c.address || said != ""):
			t.Errorf("%s: exit code %d, says %q, dials %+v; want %s", c.name, code, said, got, c.address)
		}
	}
}

// A configuration that a name stands for keeps the rest of what it says, and its mistakes say how it was found.
func TestConfigurationOfANamedCluster(t *testing.T) {
	path := personal(t, "[[cluster]]\nname = \"lab\"\nconf = \"lab.toml\"\n[[cluster]]\nname = \"gone\"\nconf = \"gone.toml\"\n")
	lab := filepath.Join(filepath.Dir(path), "lab.toml")
	text := "[scheduler]\nb_detla = 1\n[[class]]\nname = \"c\"\ncores = 1\nmemory_mb = 1\nextra = { gpu = 2 }\n"
	if err := os.WriteFile(lab, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := "dodoor nodes: cluster lab (by -cluster; " + path + ":1): " + lab + ":2: scheduler.b_detla: unknown key: did you mean b_delta?\n"
	if _, stderr, code := dodoor("nodes", "-cluster", "lab"); code != exitUsage || stderr != want {
		t.Errorf("exit code %d, says %q, want %q", code, stderr, want)
	}
	if _, stderr, code := dodoor("nodes", "-cluster", "gone"); code != exitUsage || !strings.Contains(stderr, path+":4): read configuration") {
		t.Errorf("exit code %d, says %q", code, stderr)
	}
	if err := os.WriteFile(lab, []byte(strings.Replace(text, "b_detla", "b_delta", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	o := newOptions("replay", "", "", "local", io.Discard)
	o.visitFlags()
	c, _, code := o.load([]string{"-cluster", "lab"})
	if code >= 0 || c.Scheduler.BDelta != 1 || c.Classes[0].Extra["gpu"] != 2 {
		t.Errorf("exit code %d: %+v", code, c)
	}
}

// With nothing but a name in the environment every command about a running cluster finds it, and says so when it fails there.
func TestCommandsAboutANamedCluster(t *testing.T) {
	l := running(t, sleeping)
	path := personal(t, "default = \"dead\"\n[[cluster]]\nname = \"dead\"\ndatastore = \"127.0.0.1:1\"\n"+
		"[[cluster]]\nname = \"live\"\ndatastore = \""+l.Address()+"\"\n")
	t.Setenv(clusterVariable, "live")
	live, dead := "cluster live (by DODOOR_CLUSTER; "+path+":5): ", "cluster dead (by -cluster; "+path+":2): "
	trace, out := write(t, "t.csv", "0,1,10,0,10,0,sleep,short\n1,1,10,0,10,5,sleep,short\n"), t.TempDir()
	for _, step := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"nodes"}, exitDone, "2 workers, 1 scheduler"},
		{[]string{"submit", "-id", "a", "-type", "sleep", "-cores", "1", "-duration", "10ms"}, exitDone, "finished"},
		{[]string{"submit", "-id", "a", "-type", "sleep", "-cores", "1", "-duration", "10ms"}, exitFailed, "dodoor submit: " + live},
		{[]string{"tasks", "-id", "a"}, exitDone, "ended"},
		{[]string{"tasks", "-id", "b"}, exitFailed, "dodoor tasks: " + live + `no scheduler that is registered and no worker knows a task "b"`},
		{[]string{"cancel", "b"}, exitFailed, "dodoor cancel: " + live + "no scheduler that is registered and no worker has an unfinished task"},
		{[]string{"drain", "laptop-1"}, exitDone, ""},
		{[]string{"drain", "laptop-9"}, exitFailed, "dodoor drain: " + live + `no worker is called "laptop-9"`},
		{[]string{"replay", "-quiet", "-trace", trace, "-n", "2", "-warmup", "0", "-qps", "0", "-out", out}, exitDone, "2 of 2 completed"},
		{[]string{"nodes", "-cluster", "dead"}, exitFailed, "dodoor nodes: " + dead + "data service at 127.0.0.1:1: "},
		{[]string{"replay", "-quiet", "-cluster", "dead", "-out", out}, exitFailed, "dodoor replay: " + dead + "data service at 127.0.0.1:1: "},
		{[]string{"nodes", "-datastore", "127.0.0.1:1"}, exitFailed, "dodoor nodes: data service at 127.0.0.1:1: "},
	} {
		stdout, stderr, code := dodoor(step.args...)
		if code != step.code || !strings.Contains(stdout+stderr, step.says) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s", step.args, code, step.code, step.says, stdout, stderr)
		}
		if code == exitDone && stderr != "" && step.args[0] != "replay" { // a replay logs
			t.Errorf("%q: says %q beside what it prints", step.args, stderr)
		}
	}
	os.Unsetenv(clusterVariable) // t.Setenv puts back what was there
	if _, stderr, code := dodoor("nodes"); code != exitFailed || !strings.Contains(stderr, "cluster dead (by default; "+path+":2): ") {
		t.Errorf("the default: exit code %d, says %q", code, stderr)
	}
}

func TestListOfClusters(t *testing.T) {
	path := personal(t, threeClusters)
	for variable, chosen := range map[string]string{"": "lab | default", "prod": "prod | DODOOR_CLUSTER", "nosuch": ""} {
		t.Setenv(clusterVariable, variable)
		stdout, stderr, code := dodoor("conf", "clusters")
		if code != exitDone || !strings.Contains(stdout, "3 clusters in "+path+"\n") {
			t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
		}
		marked := ""
		for line := range strings.Lines(stdout) {
			if cells := strings.Fields(strings.ReplaceAll(line, "│", " ")); len(cells) == 3 && strings.HasSuffix(cells[1], ":1") {
				marked += cells[0] + " | " + cells[2]
			}
		}
		if marked != chosen || !strings.Contains(stdout, "as "+filepath.Join(filepath.Dir(path), "own.toml")+" says") {
			t.Errorf("%q marks %q, want %q\n%s", variable, marked, chosen, stdout)
		}
	}
	broken := personal(t, "[[cluster]]\nname = \"lab\"\n")
	if _, stderr, code := dodoor("conf", "clusters"); code != exitUsage || !strings.Contains(stderr, broken+":1: cluster.lab: must have") {
		t.Errorf("exit code %d, says %q", code, stderr)
	}
	if _, stderr, code := dodoor("conf", "check", "local"); code != exitDone { // the file is no business of it
		t.Errorf("exit code %d, says %q", code, stderr)
	}
}
