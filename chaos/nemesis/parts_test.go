package nemesis

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"dodoor/chaos"
	"dodoor/conf"
)

// These are tests of what the others here are made of: none needs a container.

// What services are started with is a configuration, for every scenario.
func TestSettings(t *testing.T) {
	for seed := range uint64(20) {
		s := chaos.Plan(seed, shape(seed))
		path := filepath.Join(t.TempDir(), "service.toml")
		u := setup{name: "small-1", class: s.Workers[0].Class, address: "10.0.0.2", data: "10.0.0.1", task: "/lab/task", tempo: hasty}
		if err := os.WriteFile(path, []byte(u.conf(&s)), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := conf.Load(path, nil); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// A ledger tells of executions; one without an end was killed at an unknown time, and counts for its start.
func TestLedger(t *testing.T) {
	folder := t.TempDir()
	text := "start a 1 10 1000\nstart b 1 11 1500\nend a 1 10 2000 0\nstart a 2 10 2500\nend a 2 10 2600 3\n"
	if err := os.WriteFile(filepath.Join(folder, "w.ledger"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	run := func(task string, process int64, start, end time.Duration, outcome string, exit int) chaos.Record {
		return chaos.Record{Kind: chaos.Executed, At: start, Task: task, Worker: "w", Process: process, Start: start, End: end, Outcome: outcome,
			Exit: exit}
	}
	want := chaos.History{run("a", 1, 0, 1000, "finished", 0), run("b", 1, 500, 500, "", 0), run("a", 2, 1500, 1600, "failed", 3)}
	if found, err := readLedger(folder, "w", 1000); err != nil || !reflect.DeepEqual(found, want) {
		t.Errorf("%v\n%+v\n%+v", err, found, want)
	}
	if found, err := readLedger(folder, "other", 0); err != nil || found != nil {
		t.Errorf("%v, %v", found, err)
	}
	for _, line := range []string{"end c 1 12 3000 0\n", "start a 2\n", "nonsense\n"} {
		if err := os.WriteFile(filepath.Join(folder, "w.ledger"), []byte(text+line), 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readLedger(folder, "w", 0); err == nil {
			t.Errorf("%q is understood", line)
		}
	}
}

// Whoever came clearly earlier begins earlier.
func TestServed(t *testing.T) {
	const s = time.Second
	ran := func(task string, came, start, late time.Duration) chaos.History { // late: its program's note of its start
		return chaos.History{
			{Slack: 4 * s, Kind: chaos.Executed, Task: task, Worker: "w", Start: start + late, End: start + late + s, Outcome: "finished"},
			{Kind: chaos.Collected, Task: task, Worker: "w", Wait: start - came, Run: late + s, Outcome: "finished",
				At: start + late + s},
		}
	}
	for name, c := range map[string]struct {
		h    chaos.History
		want string
	}{
		"in turn":       {append(ran("a", 0, 4*s, 0), ran("b", 2*s, 5*s, 0)...), ""},
		"noted late":    {append(ran("a", 0, 4*s, 3*s), ran("b", 2*s, 5*s, 0)...), ""},
		"at about once": {append(ran("a", s, 9*s, 0), ran("b", s, 4*s, 0)...), ""},
		"twice":         {append(ran("b", 3*s, 4*s, 0), append(ran("a", 2*s, 9*s, 0), ran("b", s, 8*s, 0)...)...), ""},
		"ran before":    {append(append(ran("b", s, 5*s, 0)[:1], ran("a", 2*s, 4*s, 0)...), ran("b", 0, 9*s, 0)...), ""},
		"out of turn":   {append(ran("a", 0, 9*s, 0), ran("b", 2*s, 4*s, 0)...), "began task a at 8.995s"},
		"by a little":   {append(ran("a", 0, 5*s, s/2), ran("b", 2*s, 4*s, s/2)...), "began task a at 4.995s"},
	} {
		err := served(c.h)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A proxy passes messages on whole and in order; those that it delivers twice go to two connections.
func TestDetour(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	frame := func(text string) []byte {
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(text))), text...)
	}
	heard := make(chan string, 100)
	go func() { // answers every message with itself
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				for {
					f, err := readFrame(c)
					if err != nil {
						return
					}
					heard <- string(f[4:])
					_, _ = c.Write(f)
				}
			}()
		}
	}()
	for share, want := range map[float64]int{0: 1, 1: 2} {
		client, proxied := net.Pipe()
		d := detour{To: listener.Addr().String(), Share: share}
		text, _ := json.Marshal(d)
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		joined := make(chan struct{})
		go func() {
			defer close(joined)
			d.join(proxied, dice(1, 1))
		}()
		for _, text := range []string{"one", "", "three"} {
			if _, err := client.Write(frame(text)); err != nil {
				t.Fatal(err)
			}
			if f, err := readFrame(client); err != nil || !bytes.Equal(f, frame(text)) {
				t.Errorf("%q, %v", f, err)
			}
			for range want {
				if got := <-heard; got != text {
					t.Errorf("the service heard %q, want %q", got, text)
				}
			}
		}
		client.Close()
		<-joined
	}
	if _, err := readFrame(bytes.NewReader(frame("whole")[:6])); err != io.ErrUnexpectedEOF {
		t.Errorf("half a message: %v", err)
	}
	if _, err := readFrame(strings.NewReader("\xff\xff\xff\xff")); err == nil {
		t.Error("a message of 4 GiB is believed")
	}
}
