package host

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"runtime"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"dodoor/conf"
	"dodoor/internal/cgroup"
	"dodoor/internal/needs"
)

func problems(found []Finding) string {
	var all []string
	for _, f := range found {
		all = append(all, f.Problem)
	}
	return strings.Join(all, "; ")
}

func TestFolders(t *testing.T) {
	f := Folder(t.TempDir())
	if got := CheckFolder(f + "/below/it"); len(got) > 0 {
		t.Error(got)
	}
	if err := os.WriteFile(string(f)+"/file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := problems(CheckFolder(f + "/file")); !strings.Contains(got, "cannot be written") {
		t.Error(got)
	}
}

// A port is fine when it is free, or when the service has it that runs here.
func TestPorts(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	taken := listener.Addr().String()
	f, program := stage(t, `trap 'exit 0' TERM; while :; do sleep 0.01; done`)
	got := problems(CheckPorts(f, map[string]string{"s": taken, "other": "127.0.0.1:0"}))
	if !strings.HasPrefix(got, "s cannot listen on "+taken) || !strings.Contains(got, "in use") {
		t.Error(got)
	}
	if _, err := start(t, f, program, atOnce); err != nil {
		t.Fatal(err)
	}
	if got := CheckPorts(f, map[string]string{"s": taken}); len(got) > 0 {
		t.Error(got)
	}
}

func TestReach(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := free.Addr().String()
	free.Close()
	answering, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		Answer(ctx, []string{taken.Addr().String(), address}, func() { close(answering) })
	}()
	<-answering
	if got := CheckReach(ctx, []string{taken.Addr().String(), address}); len(got) > 0 {
		t.Error(got)
	}
	cancel()
	<-ended
	if got := problems(CheckReach(t.Context(), []string{address})); !strings.HasPrefix(got, "it does not reach "+address+": ") {
		t.Error(got)
	}
}

// Where a check runs says nothing about the group of a unit.
func TestGroupsOfUnits(t *testing.T) {
	booted := t.TempDir()
	place := fmt.Errorf("no limits: %w", cgroup.PlaceError{Err: errors.New("others are there")})
	for _, c := range []struct {
		reason      error
		booted      string
		supervision string
		want        bool
	}{
		{place, booted, conf.SupervisionAuto, true},
		{place, booted, conf.SupervisionSystemd, true},
		{place, booted, conf.SupervisionOwn, false},
		{place, booted + "/none", conf.SupervisionAuto, false},
		{errors.New("no controllers"), booted, conf.SupervisionAuto, false},
	} {
		a := &Agent{c: &conf.Config{Cluster: conf.Cluster{Supervision: c.supervision}}, systemd: systemd{booted: c.booted}}
		if got := a.elsewhere(c.reason); got != c.want {
			t.Errorf("%v, %+v", got, c)
		}
		for _, required := range []bool{false, true} {
			found := a.unlimited(c.reason, required)
			if len(found) == 0 != c.want || len(found) > 0 && found[0].Warning == required {
				t.Errorf("required %t: %+v, %+v", required, found, c)
			}
		}
	}
}

// Limits that are required are asked for as others are, so that what the check finds is whether there are any.
func TestRequiredGroups(t *testing.T) {
	for rule, warning := range map[string]bool{"auto": true, "required": false} {
		s := withSystemd(t, "[cluster]\nsupervision = \"own\"\n[worker]\nexecutor = \"process\"\n"+
			"[process]\nallow = [\"/bin/sh\"]\ncgroup = \""+rule+"\"\n")
		found := make(chan []Finding)
		go func() {
			runtime.LockOSThread() // for good: the thread ends with the goroutine
			if os.Geteuid() == 0 {
				_ = unix.Setfsuid(65534) // who makes no groups
			}
			found <- s.checkWorker()
		}()
		all := <-found
		if len(all) == 0 {
			needs.Real(t, errors.New("whoever runs this test may make control groups, and is not root"))
		}
		if f := all[0]; !strings.HasPrefix(f.Problem, "tasks may take more") || f.Warning != warning {
			t.Errorf("%s: %+v", rule, f)
		}
	}
}
