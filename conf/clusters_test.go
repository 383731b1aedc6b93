package conf

import (
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// personal writes the person's file, to be found by $XDG_CONFIG_HOME, and returns its path.
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

func TestUserClusters(t *testing.T) {
	path := personal(t, `default = "lab"
[[cluster]]
name = "lab"
datastore = "10.0.0.1:20510"
[[cluster]]
name = "far"
conf = "clusters/far.toml"
[[cluster]]
name = "near"
conf = "/home/me/near.toml"
[[cluster]]
name = "own"
conf = "single"
[[cluster]]
name = "apart"
schedulers = ["10.0.0.2:20511", "10.0.0.3:20511"]
`)
	got, err := UserClusters()
	if err != nil {
		t.Fatal(err)
	}
	want := &Clusters{Path: path, Default: "lab", List: []NamedCluster{
		{Name: "lab", Datastore: "10.0.0.1:20510", Where: path + ":2"},
		{Name: "far", Conf: filepath.Join(filepath.Dir(path), "clusters/far.toml"), Where: path + ":5"},
		{Name: "near", Conf: "/home/me/near.toml", Where: path + ":8"},
		{Name: "own", Conf: "single", Where: path + ":11"},
		{Name: "apart", Schedulers: []string{"10.0.0.2:20511", "10.0.0.3:20511"}, Where: path + ":14"},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%+v\nwant\n%+v", got, want)
	}
	if far, err := got.Find("far"); err != nil || !reflect.DeepEqual(far, want.List[1]) {
		t.Errorf("found %+v, %v", far, err)
	}
	if _, err := got.Find("naer"); err == nil || !strings.HasSuffix(err.Error(), `"naer": `+path+" has lab, far, near, own, apart") {
		t.Errorf("a name that nothing is like: %v", err)
	}
	if _, err := got.Find("labs"); err == nil || !strings.Contains(err.Error(), `"labs": did you mean lab? `+path) {
		t.Errorf("a slip: %v", err)
	}
}

// What is wrong has file and line, all of it at once.
func TestBadClusters(t *testing.T) {
	const lab = "[[cluster]]\nname = \"lab\"\ndatastore = \"h:1\"\n" // lines 1 to 3
	for _, c := range []struct{ name, text, want string }{
		{"no TOML", lab + "default = \n", ":4: "},
		{"unknown key, near", lab + "datasotre = \"h:2\"", ":4: cluster.lab.datasotre: unknown key: did you mean datastore?"},
		{"unknown key, far", lab + "port = 1", ":4: cluster.lab.port: unknown key: allowed here are name, datastore, schedulers, conf"},
		{"unknown key at the top", "defualt = \"lab\"\n" + lab, ":1: defualt: unknown key: did you mean default?"},
		{"a table for the list", "[cluster.lab]\ndatastore = \"h:1\"", ":1: cluster: must be a list of tables, found a table"},
		{"no name", "[[cluster]]\ndatastore = \"h:1\"", ":1: cluster[0].name: is missing"},
		{"a name that is no word", "[[cluster]]\nname = \"my lab\"\nconf = \"single\"", `:2: cluster."my lab".name: must be 1 to 128`},
		{"a number for a name", "[[cluster]]\nname = 3\nconf = \"single\"", ":2: cluster[0].name: must be a string, found integer 3"},
		{"a name twice", lab + lab, ":5: cluster.lab.name: \"lab\" is there already (first in "},
		{"a key twice", lab + "name = \"b\"", ":4: cluster[0].name is set twice: first on line 2"},
		{"no place", "[[cluster]]\nname = \"lab\"", ":1: cluster.lab: must have datastore, the address of its data service, or conf, "},
		{"two places", lab + "conf = \"single\"", ":4: cluster.lab.conf: must be left out where datastore is the address"},
		{"no port", "[[cluster]]\nname = \"lab\"\ndatastore = \"h\"", ":3: cluster.lab.datastore: must be host:port with a port between 1"},
		{"no port of a scheduler", "[[cluster]]\nname = \"lab\"\nschedulers = [\"h\"]", ":3: cluster.lab.schedulers[0]: must be host:port"},
		{"any port", "[[cluster]]\nname = \"lab\"\ndatastore = \"h:0\"", ":3: cluster.lab.datastore: must be host:port with a port between 1"},
		{"no address", "[[cluster]]\nname = \"lab\"\ndatastore = \"\"", ":3: cluster.lab.datastore: must be host:port"},
		{"no file", "[[cluster]]\nname = \"lab\"\nconf = \"\"", ":3: cluster.lab.conf: must be a profile or a file"},
		{"what only shells know", "[[cluster]]\nname = \"lab\"\nconf = \"~/lab.toml\"", `:3: cluster.lab.conf: must be a profile or a file`},
		{"a default that is not there", "default = \"prod\"\n" + lab, `:1: default: no cluster is called "prod": there are lab`},
		{"a default without clusters", "\ndefault = \"lab\"", `:2: default: no cluster is called "lab": there are none`},
		{"a default of nothing", "default = \"\"\n" + lab, `:1: default: no cluster is called ""`},
		{"too much", strings.Repeat("#", maxFileBytes+1), ": more than 1048576 bytes"},
	} {
		path := personal(t, c.text)
		if got, err := UserClusters(); err == nil || !strings.HasPrefix(err.Error(), path+c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %+v and error\n%v\nwant one that begins\n%s%s", c.name, got, err, path, c.want)
		}
	}
	path := personal(t, "default = 1\n[[cluster]]\nname = \"a\"\n[[cluster]]\nname = \"b\"\ndatastore = 2\n")
	_, err := UserClusters()
	want := path + ":1: default: must be a string, found integer 1\n" + path + ":2: cluster.a: must have datastore, the address of its data " +
		"service, or conf, a configuration that has the address\n" + path + ":6: cluster.b.datastore: must be a string, found integer 2"
	if err == nil || err.Error() != want {
		t.Errorf("several mistakes: got\n%v\nwant\n%s", err, want)
	}
}

// Who has no file has no names, and nothing is wrong; a file that cannot be read is.
func TestPlacesWithoutClusters(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, home, config, says string }{
		{"no such folder", "", "/nowhere", "/nowhere/dodoor/config.toml has none; write there cluster = [{ name"},
		{"a file for a folder", "", file, file + "/dodoor/config.toml has none"},
		{"below the home", "/nowhere", "", "/nowhere/.config/dodoor/config.toml has none"},
		{"nobody's home", "", "", "neither $XDG_CONFIG_HOME nor $HOME"},
		{"a relative folder", "/nowhere", "here", "neither $XDG_CONFIG_HOME nor $HOME"},
	} {
		t.Setenv("HOME", c.home)
		t.Setenv("XDG_CONFIG_HOME", c.config)
		got, err := UserClusters()
		if err != nil || len(got.List) != 0 {
			t.Errorf("%s: %+v, %v", c.name, got, err)
			continue
		}
		if _, err := got.Find("lab"); err == nil || !strings.Contains(err.Error(), `"lab": `+c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	path := personal(t, "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := UserClusters(); err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("a folder for the file: %+v, %v", got, err)
	}
}

// The file that docs/configuration.md shows is one.
func TestDocumentedClusters(t *testing.T) {
	text, err := os.ReadFile("../docs/configuration.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## Names for clusters\n")
	_, rest, _ := strings.Cut(section, "```\n")
	shown, _, closed := strings.Cut(rest, "```\n")
	personal(t, shown)
	if c, err := UserClusters(); err != nil || !closed || c.Default == "" || len(c.List) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}
