package manual

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/needs"
)

// guarded is the cluster of docs/security.md: one service of each role.
const guarded = `
[security]
folder = "certs"
[scheduler]
listen = "%s"
replicas = 1
b_delta = 1
max_staleness = "50ms"
[datastore]
listen = "%s"
b = 1
max_staleness = "50ms"
[worker]
listen = "%s"
class = "node"
[process]
allow = ["*"]
workdirs = ["*"]
cgroup = "off"
[[class]]
name = "node"
cores = 4
memory_mb = 4096
[[task_type]]
name = "nap"
`

// Every line of docs/security.md.
func TestSecurity(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		needs.Real(t, fmt.Errorf("%w: scripts/install-deps test", err))
	}
	p := newPerson(t)
	p.write(t, filepath.Join(p.folder, "lab.toml"), fmt.Sprintf(guarded, free(t), free(t), free(t)))
	p.follows(t, "security.md")
}

// scripts/certs hands a host its own bundles, keys for their owner alone, and nothing of anybody else's.
func TestScriptsCerts(t *testing.T) {
	p := newPerson(t)
	script, err := filepath.Abs("../../scripts/certs")
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "DODOOR="+filepath.Join(p.home, "bin", "dodoor"))
	const host = "mkdir host && (umask 077; tar -xC host)"
	if printed := p.types(t.Context(), script+" -conf cluster-example -host node-2 | ("+host+")"); strings.Count(printed, " issued ") != 10 {
		t.Errorf("makes\n%s", printed)
	}
	if printed := p.types(t.Context(), "ls host; stat -c %a host/node-2/key.pem"); printed != "node-2\nscheduler-node-2\n600\n" {
		t.Errorf("the host has\n%s", printed)
	}
	if printed := p.types(t.Context(), script+" -conf cluster-example"); strings.Count(printed, " kept ") != 10 {
		t.Errorf("again it makes\n%s", printed)
	}
	for args, says := range map[string]string{"": "which cluster",
		"-conf cluster-example -host node-9": "the inventory has no host node-9: there are node-1 ",
		"-conf cluster-example x":            "unexpected argument x", "-conf production -host a": "this configuration has no [[host]]"} {
		if printed := p.types(t.Context(), script+" "+args+"; echo exit code $?"); !strings.Contains(printed, says) ||
			!strings.HasSuffix(printed, "exit code 2\n") {
			t.Errorf("%q prints\n%s", args, printed)
		}
	}
}
