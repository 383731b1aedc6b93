package nemesis

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"dodoor/chaos"
	"dodoor/internal/cluster"
	"dodoor/internal/needs"
	"dodoor/internal/vm"
	"dodoor/sim"
)

// steps are by how many seconds the clock is moved, one after the other, while every service runs and is started anew.
var steps = []time.Duration{-time.Hour, 2 * time.Hour, -3 * time.Hour, -24 * time.Hour, 30 * time.Hour}

// between is the time from one step to the next, on a machine that is emulated.
const between = 8 * time.Second

// stepping is what happens in the machine: services run, clients submit, the clock is moved.
const stepping = `
mkdir -p ledger journal out && chmod 777 ledger && mkdir -p /var /journal
number() { echo -n $1 >number; mv number ledger/worker-1.process; }
begin() { /tests/dodoor $1 -conf /tests/$1.toml >>out/$1.log 2>&1 & eval "$1=$!"; }
all="datastore scheduler worker"
count=1; number $count
for each in $all; do begin $each; done
sleep 3
VARIABLE=/tests/errand /tests/nemesis >out/client.log 2>&1 & client=$!
for step in STEPS; do
	sleep BETWEEN
	date -s @$(($(date +%s) + step)) >>out/clock.log
	sleep 1
	count=$((count + 1))
	for each in $all; do
		eval "process=\$$each"
		signal=KILL
		[ $each != worker ] || signal=TERM # a keeper that is killed is gone before its worker
		kill -$signal $process; wait $process
		number $count
		begin $each
	done
done 2>/dev/null
wait $client; echo "client: $?"
for file in out/* ledger/*.ledger; do
	[ -f $file ] && echo "FILE$file" && cat $file
done
`

// fileMark begins the line before a file.
const fileMark = "the file "

// Clocks that are set back and forth, while services run and when they start, cost nothing: every task ends, once.
func TestClocks(t *testing.T) {
	if testing.Short() {
		t.Skip("a machine is emulated for a minute")
	}
	m, err := vm.New()
	needs.Real(t, err)
	s := clockScenario()
	folder := t.TempDir()
	text, err := json.Marshal(errand{Client: s.Clients[0], Scenario: s, Argv: []string{"/tests/task", "/tmp/ledger"},
		Tempo: calm, Out: "/tmp/out/client-1.history",
		Schedulers: []cluster.SchedulerRef{{Name: cluster.SchedulerName(0), Address: fmt.Sprintf("127.0.0.2:%d", port)}}})
	if err != nil {
		t.Fatal(err)
	}
	m.AddText("tests/errand", string(text))
	m.AddText("etc/passwd", "root:x:0:0::/tmp:/bin/sh\nnobody:x:65534:65534::/tmp:/bin/sh\n")
	m.AddText("etc/group", "root:x:0:\nnogroup:x:65534:\n")
	for i, service := range []string{sim.FaultDatastore, sim.FaultScheduler, sim.FaultWorker} {
		u := setup{name: service + "-1", class: s.Workers[0].Class, address: fmt.Sprintf("127.0.0.%d", i+1), data: "127.0.0.1",
			task: "/tests/task", tempo: calm}
		m.AddText("tests/"+service+".toml", u.conf(&s))
	}
	for name, args := range map[string][]string{"dodoor": {"build", "dodoor/cmd/dodoor"}, "task": {"build", "./testdata/task"},
		"nemesis": {"test", "-c", "dodoor/chaos/nemesis"}} {
		path := filepath.Join(folder, name)
		args = append(args[:len(args)-1:len(args)-1], "-ldflags=-s -w", "-o", path, args[len(args)-1])
		cmd := exec.Command("go", args...)
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0") // without libraries
		if output, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		if err := m.AddFile("tests/"+name, path); err != nil {
			t.Fatal(err)
		}
	}
	var seconds []string
	for _, step := range steps {
		seconds = append(seconds, strconv.Itoa(int(step.Seconds())))
	}
	script := strings.NewReplacer("VARIABLE", errandVariable, "STEPS", strings.Join(seconds, " "), "BETWEEN",
		strconv.Itoa(int(between.Seconds())), "FILE", fileMark).Replace(stepping)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	output, code, err := m.Run(ctx, folder, script)
	if err != nil || code != 0 || !strings.HasPrefix(output, "client: 0\n") {
		t.Fatalf("%d, %v\n%s", code, err, output)
	}
	out := t.TempDir()
	if err := unpack(output, out); err != nil {
		t.Fatal(err)
	}
	h, err := noted(&s, 0, out, out) // executions are told of in times since the machine's start
	if report(t, h, err, filepath.Join(out, "history.jsonl")) {
		t.Log(output)
	}
	t.Log(summary(h))
}

// clockScenario is a cluster of one of each, and short tasks of a client that submits nothing twice.
func clockScenario() chaos.Scenario {
	s := chaos.Scenario{Policy: "dodoor", Schedulers: 1, Clients: []chaos.Client{{Name: "client-1", Resubmits: true}}, Quiet: 2 * time.Minute,
		Shape:   chaos.Shape{Tasks: 60, Journal: true, Span: time.Duration(len(steps)) * (between + 2*time.Second)},
		Workers: []chaos.Worker{{Name: "worker-1", Class: "small", Slots: 2, Cores: 2000, Memory: 512}}}
	for i, step := range steps {
		at := time.Duration(i+1) * (between + time.Second)
		s.Faults = append(s.Faults, sim.Fault{What: sim.FaultScheduler, Name: cluster.SchedulerName(0), How: sim.Clock, At: at,
			Until: at + time.Second, Step: step})
	}
	for i := range s.Shape.Tasks {
		s.Tasks = append(s.Tasks, chaos.Task{ID: fmt.Sprintf("clock-%d", i+1), Client: "client-1", Cores: 1000, Memory: 16,
			At: s.Shape.Span * time.Duration(i) / time.Duration(s.Shape.Tasks), Takes: 300 * time.Millisecond})
	}
	return s
}

// unpack writes the files that a script has printed, all in one folder.
func unpack(output, folder string) error {
	for _, part := range strings.Split(output, fileMark)[1:] {
		name, text, _ := strings.Cut(part, "\n")
		if err := os.WriteFile(filepath.Join(folder, filepath.Base(name)), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}
