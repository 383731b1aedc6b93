package conf

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// A cluster of three hosts: one runs everything, one has ports and a way of its own, one counts its cores itself.
const lab = laptop + `[http]
listen = "127.0.0.1:9100"
[cluster]
user = "ops"
jump = "gate"
[[host]]
name = "a"
address = "10.0.0.1"
roles = ["datastore", "scheduler", "worker"]
class = "laptop"
[[host]]
name = "b"
address = "b.lab"
ssh = "192.0.2.7:2222"
user = "root"
jump = "me@gate2:22"
folder = "/srv/dodoor"
roles = ["scheduler", "worker"]
class = "laptop"
schedulers = 2
ports = { scheduler = 3000, http = 9200 }
[[host]]
name = "c"
address = "fd00::3"
roles = ["worker"]
class = "auto"
`

func TestTheRestFollowsFromTheHosts(t *testing.T) {
	c, err := loadText(lab)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := c.Generator.Schedulers, []string{"10.0.0.1:20503", "b.lab:3000", "b.lab:3001"}; !reflect.DeepEqual(got, want) {
		t.Errorf("schedulers %q, want %q", got, want)
	}
	if c.Datastore.Address != "10.0.0.1:20510" || c.Scheduler.Replicas != 3 || c.Classes[0].Count != 2 {
		t.Errorf("data service at %s, S = %d, %d laptops", c.Datastore.Address, c.Scheduler.Replicas, c.Classes[0].Count)
	}
	for i, want := range []string{"10.0.0.1 port  user ops jump gate folder dodoor",
		"192.0.2.7 port 2222 user root jump me@gate2:22 folder /srv/dodoor",
		"fd00::3 port  user ops jump gate folder dodoor"} {
		h := &c.Hosts[i]
		name, port := h.SSHTarget()
		if got := fmt.Sprintf("%s port %s user %s jump %s folder %s", name, port, h.User, h.Jump, h.Folder); got != want {
			t.Errorf("%s: %s, want %s", h.Name, got, want)
		}
	}
}

// What is written wins over what follows.
func TestWrittenBesideHosts(t *testing.T) {
	c, err := loadText(lab, "datastore.address=nat:1", "scheduler.replicas=7", "generator.schedulers=['x:1']")
	if err != nil {
		t.Fatal(err)
	}
	if c.Datastore.Address != "nat:1" || c.Scheduler.Replicas != 7 || !reflect.DeepEqual(c.Generator.Schedulers, []string{"x:1"}) {
		t.Errorf("%s, %d, %q", c.Datastore.Address, c.Scheduler.Replicas, c.Generator.Schedulers)
	}
}

func TestEveryServiceFindsItsPart(t *testing.T) {
	c, err := loadText(lab)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ role, name, listen, address, class, http string }{
		{RoleDatastore, "datastore-a", "10.0.0.1:20510", "10.0.0.1:20510", "", "127.0.0.1:9100"},
		{RoleScheduler, "scheduler-a", "10.0.0.1:20503", "10.0.0.1:20503", "", "127.0.0.1:9101"},
		{RoleWorker, "a", "10.0.0.1:20501", "10.0.0.1:20501", "laptop", "127.0.0.1:9102"},
		{RoleScheduler, "scheduler-b", ":3000", "b.lab:3000", "", "127.0.0.1:9200"},
		{RoleScheduler, "scheduler-b-2", ":3001", "b.lab:3001", "", "127.0.0.1:9201"},
		{RoleWorker, "b", ":20501", "b.lab:20501", "laptop", "127.0.0.1:9202"},
		{RoleWorker, "c", "[fd00::3]:20501", "[fd00::3]:20501", "auto", "127.0.0.1:9100"},
	} {
		s, err := c.Service(want.role, want.name)
		if err != nil {
			t.Fatal(err)
		}
		on := c.As(s)
		got := want
		got.http = on.HTTP.Listen
		switch want.role {
		case RoleDatastore:
			got.listen, got.address = on.Datastore.Listen, on.Datastore.Address
		case RoleScheduler:
			got.listen, got.address, got.name = on.Scheduler.Listen, on.Scheduler.Address, on.Scheduler.Name
		case RoleWorker:
			got.listen, got.address, got.name, got.class = on.Worker.Listen, on.Worker.Address, on.Worker.Name, on.Worker.Class
		}
		if got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
	_, err = c.Service(RoleScheduler, "b")
	want := `the inventory has no scheduler called "b": there are scheduler-a, scheduler-b, scheduler-b-2`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestBadHosts(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"two of one name", `name = "b"`, `name = "a"`, `t.toml:13: host.a.name: "a" is there already (first in t.toml:8)`},
		{"no name", "name = \"c\"\n", "", "t.toml:23: host[2].name: is missing: it has no default"},
		{"no address", "address = \"fd00::3\"\n", "", "t.toml:23: host.c.address: is missing: it has no default"},
		{"an address with a port", `"10.0.0.1"`, `"10.0.0.1:22"`,
			`t.toml:9: host.a.address: must be a host's name or IP address, found "10.0.0.1:22"`},
		{"an option of ssh", `"b.lab"`, `"-oProxyCommand=x"`,
			`t.toml:14: host.b.address: must be a host's name or IP address, found "-oProxyCommand=x"`},
		{"ssh's port", `:2222"`, `:70000"`, `t.toml:15: host.b.ssh: must have a port between 1 and 65535, found "70000"`},
		{"a user with a space", `"root"`, `"ro ot"`, `t.toml:16: host.b.user: must be a user's name, found "ro ot"`},
		{"a jump that is none", `"gate"`, `"-v gate"`, `t.toml:6: cluster.jump: must be host, user@host or user@host:port, found "-v gate"`},
		{"unknown supervision", "jump = \"gate\"", "supervision = \"cron\"",
			`t.toml:6: cluster.supervision: must be "auto", "systemd" or "own", found "cron"`},
		{"a folder upwards", `"/srv/dodoor"`, `"a/../.."`, "t.toml:18: host.b.folder: must be a folder of letters, digits, dots, dashes, " +
			`underscores and slashes, without .., found "a/../.."`},
		{"an unknown role", `["worker"]`, `["wroker"]`,
			`t.toml:26: host.c.roles[0]: must be "datastore", "scheduler" or "worker", found "wroker"`},
		{"a role twice", `["worker"]`, `["worker", "worker"]`, `t.toml:26: host.c.roles[1]: "worker" is there already (first in t.toml:26)`},
		{"no role", `["worker"]`, `[]`, "t.toml:26: host.c.roles: must name at least one of datastore, scheduler, worker"},
		{"no data service", `["datastore", "scheduler", "worker"]`, `["scheduler", "worker"]`,
			`t.toml:7: host: one host must have the role "datastore", found 0`},
		{"two data services", `["worker"]`, `["worker", "datastore"]`, `t.toml:7: host: one host must have the role "datastore", found 2`},
		{"an unknown class", `class = "auto"`, `class = "big"`,
			`t.toml:27: host.c.class: must be "auto" or the name of a class, found "big": there are laptop`},
		{"a class without a worker", `["worker"]`, `["scheduler"]`, `t.toml:27: host.c.class: has no meaning without the role "worker"`},
		{"a port twice", "scheduler = 3000", "scheduler = 20500",
			`t.toml:22: host.b.ports.worker: "b.lab:20501" is there already (first in t.toml:22)`},
		{"a port of two hosts of one address", `"fd00::3"`, `"b.lab"`,
			`t.toml:23: host.c.ports.worker: "b.lab:20501" is there already (first in t.toml:22)`},
		{"any port", "[cluster]", "[worker]\nlisten = \"127.0.0.1:0\"\n[cluster]",
			"t.toml:9: host.a.ports.worker: must be a fixed port: others dial it, and worker.listen has none"},
		{"a count of its own", "memory_mb = 4096", "memory_mb = 4096, count = 3",
			"t.toml:1: class.laptop.count: must be 2, the hosts of that class, or be left out, found 3"},
		{"a class that nothing fits", "class = \"auto\"\n",
			"class = \"auto\"\n[[task_type]]\nname = \"t\"\nmode = [{ name = \"m\", cores = 3, duration = \"1s\" }]",
			"t.toml:11: host.a.class: no task type fits on a node of class laptop: its worker would never get a task"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !strings.Contains(lab, c.old) {
				t.Fatalf("the inventory has no %s", c.old)
			}
			_, err := loadText(strings.Replace(lab, c.old, c.new, 1))
			if err == nil || !strings.Contains(err.Error()+"\n", c.want+"\n") {
				t.Errorf("got\n%v\nwant\n%s", err, c.want)
			}
		})
	}
}

// A service is the same while others come and go, and another one when what it does changes.
func TestDigests(t *testing.T) {
	digestOf := func(service string, sets ...string) string {
		c, err := loadText(lab, sets...)
		if err != nil {
			t.Fatal(err)
		}
		b := slices.IndexFunc(c.Services(), func(s Service) bool { return s.Name == service })
		d, err := c.DigestOf(&c.Services()[b])
		if err != nil || len(d) != 12 {
			t.Fatalf("%q, %v", d, err)
		}
		return d
	}
	digest := func(sets ...string) string { return digestOf("b", sets...) }
	before := digest()
	if digestOf("scheduler-b") == digestOf("scheduler-b", "generator.time_scale=2") {
		t.Error("a scheduler's policy is told how fast time passes, and its digest stays")
	}
	for set, same := range map[string]bool{
		"host.c.class=laptop": true, "host.c.address=d": true, "cluster.parallel=3": true, "generator.qps=7": true,
		"generator.time_scale=2": true, "host.a.schedulers=3": true,
		"worker.slots=9": false, "host.b.class=auto": false, "host.b.ports.worker=3300": false,
		"host.a.address=e": false, "score.alpha=0.1": false,
	} {
		if (digest(set) == before) != same {
			t.Errorf("%s: the digest stays: %v, want %v", set, !same, same)
		}
	}
}

// Hosts that count for themselves need no class, and no one else may take their word for a name.
func TestAutoClasses(t *testing.T) {
	host := "[[host]]\nname = \"a\"\naddress = \"a\"\nroles = [\"datastore\", \"scheduler\", \"worker\"]\nclass = \"auto\"\n"
	if _, err := loadAlone(host); err != nil {
		t.Error(err)
	}
	_, err := loadAlone(host + "[[class]]\nname = \"auto\"\ncores = 1\nmemory_mb = 1\n")
	want := `t.toml:7: class.auto.name: must not be "auto": hosts of that class detect their own`
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func loadAlone(text string) (*Config, error) {
	return load(source{"t.toml", []byte(text)}, openEmbedded, nil)
}

// anyHosts draws an inventory for a configuration, and makes its counts follow.
func anyHosts(t *rapid.T, c *Config) []Host {
	var hosts []Host
	for i, class := range append(c.ClassNames(), AutoClass, rapid.SampledFrom(c.ClassNames()).Draw(t, "class of one more host")) {
		h := Host{
			Name: fmt.Sprintf("h%d", i), Address: fmt.Sprintf("10.0.0.%d", i), Folder: "f", Roles: []string{RoleWorker},
			Schedulers: 1, Class: class,
		}
		h.Ports.Worker = rapid.IntRange(0, 65535).Filter(func(p int) bool { return p < 20503 || p > 20520 }).Draw(t, "port")
		hosts = append(hosts, h)
	}
	hosts[0].Roles = Roles
	hosts[0].Schedulers = rapid.IntRange(1, 7).Draw(t, "schedulers")
	c.Hosts = hosts
	for i := range c.Classes {
		c.Classes[i].Count = c.workersOf(c.Classes[i].Name)
	}
	return hosts
}
