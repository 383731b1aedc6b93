package scheduler

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/internal/cluster"
)

// endFor has a task of a client end, however it was placed.
func endFor(r *Replica, now time.Duration, client, id, output string) {
	record := r.results.add(now, client, id, inJob{})
	*record = cluster.TaskRecord{ID: id, Type: "simulated", Scheduler: "s1", Worker: "w1", Class: "any", Demand: cluster.Resources{1000, 512},
		Estimate: 2500, Received: now - 3*time.Second, Scheduling: 1_234_567, Wait: 300_000_000, Run: 2_345_678_901, Makespan: 3 * time.Second,
		Attempts: 1, Outcome: cluster.Finished, ViewDecisions: 123_456}
	record.Output = output
	r.keepResult(now, client, inJob{}, r.results.last, record)
}

// fetch gives a replica what it wants of a disk.
func (d disk) fetch(t rapid.TB, r *Replica) (any bool) {
	wanted := r.Wanted()
	for _, key := range wanted {
		if err := r.Fetched(key, d[key], nil); err != nil {
			t.Fatal(err)
		}
	}
	return len(wanted) > 0
}

// spiller is a replica whose uncollected results leave memory early, and its twin that keeps them there.
type spiller struct {
	*rapid.T
	now, began time.Duration
	processes  int64
	r, twin    *Replica
	disks      [2]disk
	ended      int
	cursors    map[string]int64
}

func (s *spiller) start() {
	s.processes++
	s.began = s.now
	cfg := keeping(testConfig(), s.processes, s.began)
	cfg.RetainResults = 30
	for i, r := range [...]**Replica{&s.r, &s.twin} {
		policy, err := PaperPolicy.Build(nil, 1)
		if err == nil {
			*r, err = Restore(cfg, policy, s.disks[i].each)
		}
		if err != nil {
			s.Fatal(err)
		}
		s.disks[i].sync(*r)
	}
	s.r.results.newest = rapid.IntRange(1, 3).Draw(s.T, "newest")
	s.twin.results.spilled.on = false
}

func (s *spiller) clock() time.Duration { return s.now - s.began }

// collect compares a page: the twin tells at once what the other one may tell in shorter pages.
func (s *spiller) collect(client string) {
	q := cluster.CollectRequest{Client: client, After: s.cursors[client], Incarnation: s.r.Memory(),
		Max: rapid.IntRange(0, 12).Draw(s.T, "max")}
	records, cursor, err := s.r.Collect(nil, &q)
	for s.disks[0].fetch(s.T, s.r) {
		records, cursor, err = s.r.Collect(nil, &q)
	}
	whole, _, _ := s.twin.Collect(nil, &q)
	if err != nil || len(whole) > 0 && len(records) == 0 {
		s.Fatalf("%d records (%v), and there are %d", len(records), err, len(whole))
	}
	q.Max = len(records)
	if same, last, _ := s.twin.Collect(nil, &q); !slices.Equal(records, same) || cursor != last {
		s.Fatalf("collected\n%+v up to %d, not\n%+v up to %d", records, cursor, same, last)
	}
	if rapid.Bool().Draw(s.T, "heard") {
		s.cursors[client] = cursor
	}
}

func (s *spiller) query(q cluster.TaskQuery) {
	list := s.r.Query(q)
	if s.disks[0].fetch(s.T, s.r) {
		list = s.r.Query(q)
	}
	if want := s.twin.Query(q); len(s.r.Wanted()) > 0 || !reflect.DeepEqual(list, want) {
		s.Fatalf("%+v: %+v, not %+v", q, list, want)
	}
}

func (s *spiller) step() {
	s.now += rapid.SampledFrom([]time.Duration{0, time.Second, 20 * time.Minute}).Draw(s.T, "later")
	client := rapid.SampledFrom([]string{"a", "b", ""}).Draw(s.T, "client")
	switch rapid.SampledFrom([]string{"end", "end", "end", "sync", "tick", "tick", "collect", "collect", "query", "name",
		"restart"}).Draw(s.T, "step") {
	case "end":
		for range rapid.IntRange(1, 8).Draw(s.T, "tasks") {
			for _, r := range [...]*Replica{s.r, s.twin} {
				endFor(r, s.clock(), client, fmt.Sprint("t", s.ended), "")
			}
			s.ended++
		}
	case "sync":
		s.disks[0].sync(s.r)
		s.disks[1].sync(s.twin)
	case "tick":
		s.r.Tick(s.clock())
		s.twin.Tick(s.clock())
	case "collect":
		s.collect(client)
	case "query":
		s.query(cluster.TaskQuery{Ended: true, Max: rapid.IntRange(1, 40).Draw(s.T, "max"), After: fmt.Sprint("t",
			rapid.IntRange(0, s.ended).Draw(s.T, "behind"))})
	case "name":
		s.query(cluster.TaskQuery{ID: fmt.Sprint("t", rapid.IntRange(0, s.ended).Draw(s.T, "task"))})
	case "restart":
		s.disks[0].sync(s.r)
		s.disks[1].sync(s.twin)
		s.start()
	}
}

// Whoever asks for what, and whatever restarts when: a replica that leaves results to its journal tells the same as one that does not.
func TestSpilledResultsAreTheSame(t *testing.T) {
	spilled, back := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		s := spiller{T: t, disks: [2]disk{{}, {}}, cursors: map[string]int64{}}
		s.start()
		for range rapid.IntRange(1, 80).Draw(t, "steps") {
			s.step()
			for _, e := range s.r.results.claimed.ring {
				if e.absent {
					spilled++
				}
			}
			if n := len(s.r.results.spilled.back); n > 0 {
				back++
			}
			s.r.results.leaveAgain()
			if n := len(s.r.results.spilled.back); n > s.r.results.newest {
				t.Fatalf("%d results that were read stay in memory, and %d are the most", n, s.r.results.newest)
			}
		}
		for _, client := range []string{"a", "b"} {
			s.collect(client)
		}
	})
	if spilled == 0 || back == 0 {
		t.Errorf("nothing was left to the journal, or nothing came back (%d, %d)", spilled, back)
	}
}

// What cannot be read any more is lost to its client, who hears why, and goes on with what follows.
func TestAnUnreadableResultIsLost(t *testing.T) {
	for name, c := range map[string]struct {
		change func(d disk, key string) (value []byte, err error)
		says   string
	}{
		"damaged": {func(disk, string) ([]byte, error) { return nil, errors.New("journal x is damaged at byte 5") }, "damaged at byte 5"},
		"missing": {func(disk, string) ([]byte, error) { return nil, nil }, "is broken"},
		"short":   {func(d disk, key string) ([]byte, error) { return d[key][:9], nil }, "is broken"},
		"another": {func(d disk, _ string) ([]byte, error) { return d[resultKey(3)], nil }, `it is the result of task "t2", not of "t1"`},
	} {
		t.Run(name, func(t *testing.T) {
			d := disk{}
			r := restored(t, keeping(testConfig(), 1, 0), paperPolicy(t), d)
			r.results.newest = 1
			for i := range 4 {
				endFor(r, time.Second, "c", fmt.Sprint("t", i), "")
			}
			d.sync(r)
			r.Tick(time.Second)
			q := cluster.CollectRequest{Client: "c", After: 1, Max: 1}
			var records []cluster.TaskRecord
			for {
				var err error
				if records, _, err = r.Collect(nil, &q); err != nil {
					t.Fatal(err)
				}
				wanted := r.Wanted()
				if len(wanted) == 0 {
					break
				}
				for _, key := range wanted {
					value, damage := d[key], error(nil)
					if key == resultKey(2) {
						value, damage = c.change(d, key)
					}
					if err := r.Fetched(key, value, damage); (err != nil) != (key == resultKey(2)) {
						t.Fatalf("%q: %v", key, err)
					}
				}
			}
			want := cluster.TaskRecord{ID: "t1", Type: "simulated", Scheduler: "s1", Received: time.Second, Outcome: cluster.Lost, ExitCode: -1}
			reason := ""
			if len(records) == 1 {
				reason, records[0].Reason = records[0].Reason, ""
			}
			if !slices.Equal(records, []cluster.TaskRecord{want}) || !strings.Contains(reason, c.says) ||
				!strings.Contains(reason, "it ended as finished") {
				t.Fatalf("told %+v: %s", records, reason)
			}
			q.After, q.Max = 2, 10
			for records, _, _ = r.Collect(nil, &q); d.fetch(t, r); {
				records, _, _ = r.Collect(nil, &q)
			}
			if len(records) == 0 || records[0].ID != "t2" || records[0].Outcome != cluster.Finished {
				t.Errorf("then %+v", records)
			}
		})
	}
}

// A process takes up very many uncollected results without having them in memory, and its client gets them all.
func TestManyResultsAreTakenUp(t *testing.T) {
	const n = 2*unpacked + 10
	d := disk{}
	cfg := testConfig()
	cfg.RetainResults = n
	first := restored(t, keeping(cfg, 1, 0), paperPolicy(t), d)
	for i := range n {
		endFor(first, time.Second, "c", fmt.Sprint("t", i), "")
	}
	d.sync(first)
	r := restored(t, keeping(cfg, 2, time.Hour), paperPolicy(t), d)
	d.sync(r)
	absent := 0
	for _, e := range r.results.claimed.ring {
		if e.absent {
			absent++
		}
	}
	if absent != n-unpacked {
		t.Errorf("%d results are left to the journal, want %d", absent, n-unpacked)
	}
	var all []cluster.TaskRecord
	for q := (cluster.CollectRequest{Client: "c", Max: 1 << 20, Incarnation: r.Memory()}); ; {
		records, cursor, err := r.Collect(nil, &q)
		if err != nil {
			t.Fatal(err)
		}
		if d.fetch(t, r) {
			continue
		}
		if q.After = cursor; len(records) == 0 {
			break
		}
		all = append(all, records...)
		r.Tick(0)
	}
	for i, record := range all {
		if record.ID != fmt.Sprint("t", i) || record.Received != -time.Hour-2*time.Second {
			t.Fatalf("result %d is %+v", i, record)
		}
	}
	if len(all) != n || r.Uncollected() != 0 {
		t.Errorf("%d of %d results, %d are left", len(all), n, r.Uncollected())
	}
}
