package main

import (
	"encoding/json"
	"strings"
	"testing"

	"dodoor/conf"
)

func TestHostsForPeopleAndScripts(t *testing.T) {
	table, _, code := dodoor("conf", "hosts", "cluster-example")
	if code != exitDone || !strings.Contains(table, "node-6") || !strings.Contains(table, "worker:node-6") {
		t.Errorf("exit code %d\n%s", code, table)
	}
	text, _, code := dodoor("conf", "hosts", "cluster-example", "-json", "-set", "host.node-2.ssh=gate:2222", "-set", "cluster.user=ops")
	var hosts []conf.HostLine
	if err := json.Unmarshal([]byte(text), &hosts); code != exitDone || err != nil || len(hosts) != 6 {
		t.Fatalf("exit code %d, %v\n%s", code, err, text)
	}
	second := hosts[1]
	if second.SSH != "gate" || second.SSHPort != "2222" || second.User != "ops" || second.Services[0].Address != "10.77.0.12:20503" ||
		len(second.Services[0].Digest) != 12 {
		t.Errorf("%+v", second)
	}
	lines, _, code := dodoor("conf", "hosts", "cluster-example", "-plain")
	first, _, _ := strings.Cut(lines, "\n")
	fields := strings.Split(first, "\t")
	if code != exitDone || strings.Count(lines, "\n") != 6 || len(fields) != 8 || fields[7] != "62" ||
		fields[0] != "node-1" || fields[2] != "-" ||
		!strings.HasPrefix(fields[6], "datastore:datastore-node-1:") {
		t.Errorf("exit code %d\n%s", code, lines)
	}
}

func TestACloudLabManifestIsPrintedAsAnInventory(t *testing.T) {
	manifest := write(t, "manifest.xml", `<rspec><node client_id="n1"><hardware_type name="m510"/>
		<services><login hostname="ms1.utah.cloudlab.us" port="22" username="ann"/></services></node></rspec>`)
	text, stderr, code := dodoor("conf", "cloudlab", manifest)
	if code != exitDone {
		t.Fatalf("exit code %d: %s", code, stderr)
	}
	if said, _, code := dodoor("conf", "check", write(t, "lab.toml", text)); code != exitDone || !strings.Contains(said, "1 host") {
		t.Errorf("exit code %d: %s\n%s", code, said, text)
	}
}
