package conf

import (
	"strings"
	"testing"
)

// Three nodes, written as CloudLab writes them: one of a class of the paper, one of another, several people.
const labManifest = `<?xml version="1.0"?>
<rspec xmlns="http://www.geni.net/resources/rspec/3" type="manifest">
  <node xmlns:emulab="http://www.protogeni.net/resources/rspec/ext/emulab/1" client_id="ctl" exclusive="true">
    <sliver_type name="raw-pc"/><hardware_type name="d6515"/>
    <services>
      <login authentication="ssh-keys" hostname="ms1.utah.cloudlab.us" port="22" username="ann"/>
      <login authentication="ssh-keys" hostname="ms1.utah.cloudlab.us" port="22" username="bob"/>
      <emulab:console server="boss.utah.cloudlab.us"/>
    </services>
    <interface client_id="ctl:eth1"><ip address="10.10.1.1" type="ipv4" netmask="255.255.255.0"/></interface>
    <host name="ctl.lab.utah.cloudlab.us" ipv4="128.110.217.1"/>
  </node>
  <node xmlns:emulab="http://www.protogeni.net/resources/rspec/ext/emulab/1" client_id="n1" exclusive="true">
    <hardware_type name="pc"/>
    <services><login authentication="ssh-keys" hostname="ms2.utah.cloudlab.us" port="2222" username="ann"/></services>
    <emulab:vnode name="ms2" hardware_type="m510"/>
    <host name="n1.lab.utah.cloudlab.us" ipv4="128.110.217.2"/>
  </node>
  <node client_id="n2"><hardware_type name="rs7525"/>
    <services><login authentication="ssh-keys" hostname="ms3.utah.cloudlab.us" port="22" username="ann"/></services>
  </node>
</rspec>`

func TestAManifestBecomesAnInventory(t *testing.T) {
	text, err := FromCloudLab(strings.NewReader(labManifest))
	if err != nil {
		t.Fatal(err)
	}
	const want = `include = ["functionbench"]

[cluster]
user = ""

[security]
folder = "certs"

[[class]]
name = "m510"
cores = 8
memory_mb = 65536

[[host]]
name = "ctl"
address = "10.10.1.1"
ssh = "ms1.utah.cloudlab.us"
roles = ["datastore", "scheduler"]
schedulers = 5

[[host]]
name = "n1"
address = "128.110.217.2"
ssh = "ms2.utah.cloudlab.us:2222"
roles = ["worker"]
class = "m510"

[[host]]
name = "n2"
address = "ms3.utah.cloudlab.us"
ssh = "ms3.utah.cloudlab.us"
roles = ["worker"]
class = "auto"
`
	if string(text) != want {
		t.Errorf("got\n%s\nwant\n%s", text, want)
	}
}

func TestBadManifests(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"half a manifest", "</rspec>", "", "read the manifest: XML syntax error"},
		{"no nodes", "node", "knot", "the manifest has no nodes"},
		{"not ready", "login", "logout", `node "ctl" of the manifest has no login`},
		{"a name twice", `client_id="n2"`, `client_id="n1"`, `host.n1.name: "n1" is there already`},
		{"a name that is an option", "ms3.utah", "-oX=y", `must be a host's name or IP address, found "-oX=y.cloudlab.us"`},
	} {
		_, err := FromCloudLab(strings.NewReader(strings.ReplaceAll(labManifest, c.old, c.new)))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

func FuzzFromCloudLab(f *testing.F) {
	f.Add(labManifest)
	f.Fuzz(func(t *testing.T, text string) {
		made, err := FromCloudLab(strings.NewReader(text))
		if err != nil {
			return
		}
		if _, err := loadAlone(string(made)); err != nil {
			t.Errorf("%v\nin\n%s", err, made)
		}
	})
}
