package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"dodoor/client"
	"dodoor/internal/cluster"
)

// seenBefore makes what a data service told of schedulers before.
func seenBefore(t *testing.T, address string, all ...sighting) {
	t.Helper()
	path, err := seenPath(address)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Who was seen within a day, and is not registered under its name nor at its address, is absent until it is again.
func TestWhoIsAbsent(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	const address = "127.0.0.1:1"
	now := time.Now()
	seenBefore(t, address, sighting{"moved", "h:1", now.Add(-time.Hour)}, sighting{"renamed", "h:2", now.Add(-time.Hour)},
		sighting{"old", "h:3", now.Add(-missed - time.Minute)}, sighting{"gone", "h:4", now.Add(-time.Hour)},
		sighting{"away", "h:5", now})
	names := func(all []client.Absent) (names []string) {
		for _, a := range all {
			names = append(names, a.Name)
		}
		return names
	}
	registered := []cluster.SchedulerRef{{Name: "moved", Address: "h:7"}, {Name: "new", Address: "h:2"}}
	for range 2 {
		absent := remember(address, registered)
		if got := names(absent); !slices.Equal(got, []string{"away", "gone"}) {
			t.Fatalf("absent: %v", absent)
		}
		if absent[1].Ago < time.Hour || absent[1].Ago > 2*time.Hour {
			t.Errorf("%v", absent[1])
		}
	}
	if absent := remember(address, nil); !slices.Equal(names(absent), []string{"away", "gone", "moved", "new"}) {
		t.Errorf("a data service that knows nobody yet: %v", absent)
	}
	if absent := remember(address, append(registered, cluster.SchedulerRef{Name: "away", Address: "h:5"})); !slices.Equal(names(absent),
		[]string{"gone"}) {
		t.Errorf("one is back: %v", absent)
	}
	refs, absent, since := recall(address)
	if len(refs) != 3 || !slices.Equal(names(absent), []string{"gone"}) || !strings.HasPrefix(since, "as they were seen ") {
		t.Errorf("without the data service: %v, %v, %q", refs, absent, since)
	}
	if refs, absent, _ := recall("127.0.0.1:2"); refs != nil || absent != nil {
		t.Errorf("of another: %v, %v", refs, absent)
	}
}

// Commands that tell what there is say once whose part is missing, as of a scheduler that does not answer; what would leave that
// part behind is refused; and nothing else is kept from working.
func TestASchedulerThatIsAbsent(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	l := running(t, "scheduler.replicas=2", sleeping)
	task := []string{"-type", "sleep", "-cores", "1", "-memory", "10", "-duration", "10ms", "-id", "t"}
	seenBefore(t, l.Address(), sighting{"scheduler-9", "127.0.0.1:1", time.Now().Add(-time.Hour)})
	const who, says = "scheduler-9 was there 1h", " ago and is not now: what it holds alone is not shown"
	for _, step := range []struct {
		code int
		says string
		args []string
	}{
		{exitDone, "", append([]string{"submit"}, task...)},
		{exitDone, "", []string{"nodes"}},
		{exitDone, says, []string{"tasks", "-id", "t"}},
		{exitFailed, says, []string{"tasks"}},
		{exitFailed, says, []string{"tasks", "-id", "nosuch"}},
		{exitFailed, says, []string{"jobs"}},
		{exitFailed, says, []string{"logs", "nosuch"}},
		{exitFailed, says, []string{"logs", "nosuch.1"}},
		{exitFailed, says, []string{"cancel", "nosuch"}},
		{exitFailed, says, []string{"cancel", "nosuch.1"}},
		{exitFailed, "start that again, or name all that there are with -schedulers: " + who, []string{"forget", "nosuch"}},
		{exitFailed, "start that again, or name all that there are with -schedulers: " + who, []string{"retry", "nosuch"}},
	} {
		stdout, stderr, code := dodoor(append([]string{step.args[0], "-datastore", l.Address()}, step.args[1:]...)...)
		if code != step.code || step.says == "" && stderr != "" || !strings.Contains(stderr, step.says) ||
			step.says != "" && (strings.Count(stderr, who) != 1 || strings.Count(stderr, "\n") != 1) {
			t.Errorf("%q: exit code %d, want %d and %q\n%s%s", step.args, code, step.code, step.says, stdout, stderr)
		}
	}
	status, err := l.Data.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	those := status.Schedulers[0].Address + "," + status.Schedulers[1].Address
	if _, stderr, code := dodoor("forget", "-schedulers", those, "nosuch"); code != exitFailed ||
		!strings.Contains(stderr, "dodoor jobs -schedulers "+those+" lists") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
