package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Commands work while the data service does not: with the schedulers that they are told, that the person's file lists, or
// that were there the last time, of which a broken file says nothing.
func TestCommandsWithoutTheDataService(t *testing.T) {
	cache := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", cache)
	l := running(t, "scheduler.replicas=2", sleeping)
	status, err := l.Data.Status(t.Context())
	if err != nil || len(status.Schedulers) != 2 {
		t.Fatalf("%+v, %v", status.Schedulers, err)
	}
	a, b := status.Schedulers[0].Address, status.Schedulers[1].Address
	if _, stderr, code := dodoor("nodes", "-conf", "single", "-datastore", l.Address()); code != exitDone {
		t.Fatal(stderr)
	}
	lists, err := filepath.Glob(filepath.Join(cache, "dodoor", "schedulers", "*.json"))
	if err != nil || len(lists) != 1 {
		t.Fatalf("%v, %v", lists, err)
	}
	const away = "127.0.0.1:1"
	list, err := os.ReadFile(lists[0])
	if err != nil {
		t.Fatal(err)
	}
	path, err := seenPath(away)
	if err != nil {
		t.Fatal(err)
	}
	for _, broken := range []string{"", "{", `{"schedulers": [["", ""]]}`} {
		if err := os.WriteFile(path, []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
		_, stderr, code := dodoor("nodes", "-conf", "single", "-datastore", away)
		if code != exitFailed || !strings.Contains(stderr, "-schedulers") {
			t.Errorf("a broken list: %d, %s", code, stderr)
		}
	}
	if err := os.WriteFile(path, list, 0o600); err != nil {
		t.Fatal(err)
	}
	personal(t, "[[cluster]]\nname = \"apart\"\nschedulers = [\""+a+"\"]\n[[cluster]]\nname = \"both\"\ndatastore = \"127.0.0.1:2\"\n"+
		"schedulers = [\""+a+"\", \""+b+"\"]\n")
	task := []string{"-type", "sleep", "-cores", "1", "-memory", "10", "-duration", "10ms"}
	for _, step := range []struct {
		args []string
		says []string
	}{
		{[]string{"nodes", "-datastore", away}, []string{"2 workers, 2 schedulers", away, "as they were seen"}},
		{append([]string{"submit", "-datastore", away}, task...), []string{"finished", "as they were seen"}},
		{[]string{"nodes", "-schedulers", a + "," + b}, []string{"2 workers, 2 schedulers"}},
		{append([]string{"submit", "-schedulers", "127.0.0.1:3," + b}, task...), []string{"finished"}},
		{append([]string{"submit", "-schedulers", b + ",127.0.0.1:3"}, task...), []string{"finished"}},
		{[]string{"nodes", "-cluster", "apart"}, []string{"2 workers, 1 scheduler,"}},
		{[]string{"nodes", "-cluster", "both"}, []string{"2 workers, 2 schedulers", "those of its entry"}},
		{[]string{"drain", "-schedulers", a, "laptop-1"}, nil},
	} {
		stdout, stderr, code := dodoor(step.args...)
		if code != exitDone {
			t.Errorf("%v: exit code %d\n%s%s", step.args, code, stdout, stderr)
		}
		for _, text := range step.says {
			if !strings.Contains(stdout+stderr, text) {
				t.Errorf("%v: says nothing of %q\n%s%s", step.args, text, stdout, stderr)
			}
		}
	}
}

// While the data service was silent at first, the schedulers are asked on, whoever answers at its address meanwhile.
func TestASilentDataServiceIsNotAskedAgain(t *testing.T) {
	l := running(t, sleeping)
	v := &visit{data: l.Data, dims: l.Dimensions, given: refsOf([]string{"127.0.0.1:1"})}
	if status, err := v.look(t.Context()); err != nil || len(status.Nodes) != 2 {
		t.Errorf("the data service answers: %+v, %v", status, err)
	}
	v.silent = true
	if _, err := v.look(t.Context()); err == nil || !strings.Contains(err.Error(), "scheduler 127.0.0.1:1: ") {
		t.Errorf("it was silent, and the scheduler is not there: %v", err)
	}
}
