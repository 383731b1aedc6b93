package manual

import (
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"dodoor/conf"
	"dodoor/localcluster"
)

// lab is the cluster of the pages: two schedulers and four workers that allow anything.
const lab = `
[scheduler]
policy = "dodoor+"
replicas = 2
b_delta = 2
max_staleness = "50ms"
[datastore]
b = 4
max_staleness = "50ms"
[process]
allow = ["*"]
workdirs = ["*"]
cgroup = "off"
[[class]]
name = "node"
count = 4
cores = 4
memory_mb = 4096
[[task_type]]
name = "nap"
[[task_type.mode]]
name = "short"
cores = 0.5
memory_mb = 16
duration = "100ms"
`

// hasLab starts the cluster called lab, and returns its data service's address.
func (p *person) hasLab(t *testing.T) string {
	t.Helper()
	file := filepath.Join(p.home, "lab.toml")
	p.write(t, file, lab+"\n[worker]\nspool = \""+filepath.Join(p.home, "spool")+"\"\n")
	c, err := conf.Load(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	services, err := localcluster.Start(c, slog.New(slog.NewTextHandler(io.Discard, nil)), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(services.Stop)
	if err := services.AwaitWorkers(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.write(t, filepath.Join(p.home, ".config", "dodoor", "config.toml"),
		"cluster = [{ name = \"lab\", datastore = \""+services.Address()+"\" }]\n")
	return services.Address()
}

func (p *person) write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// Every line of docs/jobs.md.
func TestJobs(t *testing.T) {
	p := newPerson(t)
	p.hasLab(t)
	p.follows(t, "jobs.md")
}
