package schedulerd

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/internal/cluster"
)

// uncollected is far more results than a scheduler with a journal has in memory while nobody collects them.
const uncollected = 6000

// endMany has so many tasks end, and the scheduler leave what it may to its journal.
func endMany(t *testing.T, d *Daemon, worker *fakeWorker) {
	t.Helper()
	client := clientOf(t, d)
	for from := 0; from < uncollected; from += 1000 {
		var ids []string
		for i := range 1000 {
			ids = append(ids, fmt.Sprint("t", from+i))
		}
		submitAll(t, client, ids...)
		awaitHeld(t, []*fakeWorker{worker}, len(ids))
		worker.finishAll(t, client)
	}
	d.mu.Lock()
	d.perform(d.replica.Tick(d.now()))
	d.mu.Unlock()
}

// What a client collects, and what somebody asks about, comes from the journal when it has left memory: in this process and in the next.
func TestResultsComeFromTheJournal(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	d := newDaemon(t, cfg)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	endMany(t, d, worker)
	list, err := clientOf(t, d).Tasks(t.Context(), cluster.TaskQuery{ID: "t0"})
	if err != nil || len(list) != 1 || list[0].Record == nil || list[0].Record.Type != "simulated" {
		t.Errorf("t0: %+v (%v)", list, err)
	}
	page, err := clientOf(t, d).Collect(t.Context(), cluster.CollectRequest{Client: "c", Max: 700})
	if err != nil || len(page.Records) != 700 {
		t.Fatalf("a page of %d records (%v)", len(page.Records), err)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	next := newDaemon(t, cfg)
	start(t, next)
	got := map[string]cluster.TaskRecord{}
	for _, r := range collect(t, clientOf(t, next), uncollected) {
		if got[r.ID].ID != "" || r.Outcome != cluster.Finished {
			t.Fatalf("%+v, and before %+v", r, got[r.ID])
		}
		got[r.ID] = r
	}
	for _, r := range page.Records {
		if got[r.ID] != r {
			t.Fatalf("the next process says %+v, the first said %+v", got[r.ID], r)
		}
	}
}

// What the disk has spoilt meanwhile is lost, and its client hears so at once; all the rest is there.
func TestSpoiltResultsAreLost(t *testing.T) {
	data := newData(t, "127.0.0.1:0")
	start(t, data)
	cfg := keeping(t, data.Addr(), t.TempDir())
	d := newDaemon(t, cfg)
	start(t, d)
	worker := startWorker(t, "w1", data.Addr())
	untilReady(t, d, 1)
	endMany(t, d, worker)
	files, err := filepath.Glob(filepath.Join(cfg.Journal, "*.journal"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	file, err := os.OpenFile(files[0], os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.WriteAt(make([]byte, d.record.journal.Bytes()/6), 0)
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	outcomes := map[cluster.Outcome]int{}
	for _, r := range collect(t, clientOf(t, d), uncollected) {
		if outcomes[r.Outcome]++; r.Outcome == cluster.Lost && !strings.Contains(r.Reason, files[0]+" is damaged at byte") {
			t.Fatalf("%s is lost: %s", r.ID, r.Reason)
		}
	}
	if lost := outcomes[cluster.Lost]; lost == 0 || lost > uncollected/2 || lost+outcomes[cluster.Finished] != uncollected {
		t.Errorf("outcomes %v", outcomes)
	}
}
