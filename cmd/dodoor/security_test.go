package main

import (
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"dodoor/conf"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
	"dodoor/internal/identity/authority"
	"dodoor/internal/rpc"
	"dodoor/localcluster"
)

// Commands find bundles beside the file that names their folder, wherever they run; services where they are started.
func TestWhereBundlesAre(t *testing.T) {
	const text = "[security]\nfolder = \"certs\"\n[[class]]\nname = \"c\"\ncores = 1\nmemory_mb = 1\n"
	file := write(t, "lab.toml", text)
	absolute := write(t, "absolute.toml", strings.Replace(text, `"certs"`, `"/etc/certs"`, 1))
	for _, c := range []struct {
		args   []string
		serves bool
		want   string
	}{
		{[]string{"-conf", file}, false, filepath.Join(filepath.Dir(file), "certs")},
		{[]string{"-conf", file}, true, "certs"},
		{[]string{"-conf", file, "-set", "security.folder=mine"}, false, "mine"},
		{[]string{"-conf", file, "-set", "security.user=me"}, false, filepath.Join(filepath.Dir(file), "certs")},
		{[]string{"-conf", absolute}, false, "/etc/certs"},
		{[]string{"-conf", "production"}, false, "certs"},
		{[]string{"-conf", "single"}, false, ""},
	} {
		o := newOptions("nodes", "", "", "local", io.Discard)
		o.serves = c.serves
		if got, _, code := o.load(c.args); code >= 0 || got.Security.Folder != c.want {
			t.Errorf("%+v: exit code %d, %+v", c, code, got)
		}
	}
}

// Plaintext that others reach is said to be; what is reached from here alone is nobody's concern.
func TestWhoIsToldOfPlaintext(t *testing.T) {
	at := func(worker, scheduler string) cluster.ClusterStatus {
		return cluster.ClusterStatus{Nodes: []cluster.NodeStatus{{Node: cluster.Node{Address: worker}}},
			Schedulers: []cluster.SchedulerRef{{Address: scheduler}}}
	}
	for _, c := range []struct {
		status cluster.ClusterStatus
		bundle *identity.Bundle
		want   string
	}{
		{cluster.ClusterStatus{}, nil, ""}, {at("127.0.0.1:1", "[::1]:2"), nil, ""},
		{at("10.0.0.1:1", "127.0.0.1:2"), nil, "10.0.0.1:1"}, {at("127.0.0.1:1", "node-1:2"), nil, "node-1:2"},
		{at("10.0.0.1:1", "node-1:2"), &identity.Bundle{}, ""},
	} {
		v := &visit{status: c.status, cfg: rpc.Config{Bundle: c.bundle}}
		if got := v.exposed(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.status, got, c.want)
		}
	}
}

// A cluster with certificates: commands need a bundle, and do what its role may.
func TestCommandsWithCertificates(t *testing.T) {
	a, err := authority.Create(filepath.Join(t.TempDir(), "ca"), "dodoor", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "certs")
	for name, role := range map[string]identity.Role{"datastore": identity.DataService, "scheduler-1": identity.Scheduler,
		"laptop-1": identity.Worker, "operator": identity.Operator, "alice": identity.User} {
		if err := a.Issue(identity.Identity{Role: role, Name: name}, filepath.Join(folder, name), time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	c, err := conf.Load("single", []string{"class.laptop.count=1", `worker.executor="sleep"`, `http.listen=""`, "security.folder=" + folder})
	if err != nil {
		t.Fatal(err)
	}
	l, err := localcluster.Start(c, slog.New(slog.DiscardHandler), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Stop()
	if err := l.AwaitWorkers(t.Context()); err != nil {
		t.Fatal(err)
	}
	const operator, alice = "security.user=operator", "security.user=alice"
	for _, step := range []struct {
		as   string
		args []string
		code int
		says string
	}{
		{operator, []string{"nodes"}, exitDone, "laptop-1"},
		{alice, []string{"submit", "-type", "sleep", "-cores", "1", "-memory", "10", "-duration", "10ms"}, exitDone, "finished"},
		{alice, []string{"drain", "laptop-1"}, exitFailed, "user alice"},
		{operator, []string{"drain", "laptop-1"}, exitDone, ""},
		{"security.user=bob", []string{"nodes"}, exitUsage, "no bundle of the operator bob"},
		{"security.domain=elsewhere", []string{"nodes"}, exitUsage, `is of the domain "dodoor": this cluster's is "elsewhere"`},
		{"security.folder=\"\"", []string{"nodes"}, exitFailed, l.Address()},
	} {
		args := append(step.args[:1:1], "-conf", "single", "-datastore", l.Address(), "-set", "security.folder="+folder, "-set", step.as)
		stdout, stderr, code := dodoor(append(args, step.args[1:]...)...)
		if code != step.code || !strings.Contains(stdout+stderr, step.says) {
			t.Errorf("%s %v: exit code %d, want %d and %q\n%s%s", step.as, step.args, code, step.code, step.says, stdout, stderr)
		} else if step.code != exitDone {
			t.Log(stderr)
		}
	}
}

// Bundles are made in the domain and for the operator that the configuration names, or not at all.
func TestCertificatesOfTheConfiguration(t *testing.T) {
	s := newAuthority(t)
	const text = "[[class]]\nname = \"c\"\ncores = 1\nmemory_mb = 1\n[security]\nfolder = \"certs\"\n"
	lab := write(t, "lab.toml", text+"user = \"carol\"\n")
	if printed := s.does("all", "-conf", lab, "-out", s.folder); !strings.Contains(printed, "operator carol") {
		t.Errorf("no bundle of who runs commands:\n%s", printed)
	}
	other := write(t, "other.toml", text+"domain = \"lab\"\n")
	s.refuses(exitUsage, `has the domain "lab" (security.domain), the authority in `, "all", "-conf", other, "-out", s.at("other"))
}
