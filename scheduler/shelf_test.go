package scheduler

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A client that never comes for its results keeps none that nobody collects: these are bounded by themselves, and packed.
func TestResultsThatNobodyCollectsWaitForNoClient(t *testing.T) {
	cfg := testConfig()
	cfg.RetainResults = unpacked + 10
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(5))
	endAll(t, r, 0, "of a client that stays away")
	for i := range int64(unpacked + 30) {
		d, refusal := runAs(r, 0, "j", fmt.Sprint("j.", i), i)
		if refusal != nil {
			t.Fatal(refusal)
		}
		finish(t, r, 0, d, cluster.Finished)
	}
	r.Tick(time.Second)
	if n := r.Statistics().Retained; n != unpacked+11 || r.Uncollected() != 1 {
		t.Errorf("%d results are kept, %d of them for the client: want %d and one", n, r.Uncollected(), unpacked+11)
	}
	if r.results.others.packed != 10 {
		t.Errorf("%d results are packed, want ten", r.results.others.packed)
	}
	if list := r.Query(cluster.TaskQuery{ID: "j.25"}); len(list) != 1 || list[0].Record.ID != "j.25" {
		t.Errorf("%+v", list)
	}
}

// A listing has the newest results first, whoever they are of.
func TestListingsMixResults(t *testing.T) {
	r := jobReplica(t)
	for i, id := range []string{"a", "j.1", "j.2", "b", "j.4"} {
		if id[0] != 'j' {
			endAll(t, r, 0, id)
			continue
		}
		d, _ := runAs(r, 0, "j", id, int64(i))
		finish(t, r, 0, d, cluster.Failed)
	}
	all := []string{"j.4", "b", "j.2", "j.1", "a"}
	for n := range 7 {
		if got, want := ids(r.Query(cluster.TaskQuery{Max: n})), all[:min(n, 5)]; !slices.Equal(got, want) {
			t.Errorf("%d: %v, want %v", n, got, want)
		}
	}
}
