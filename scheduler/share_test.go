package scheduler

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"dodoor/internal/cluster"

	"pgregory.net/rapid"
)

// No client can keep another out: whoever holds nothing at a scheduler, neither results nor tasks, may bring some as long as
// there is room for tasks at all, whatever the others leave uncollected; and what is left uncollected stays within its bound.
func TestNoClientKeepsAnotherOut(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		cfg := testConfig()
		cfg.RetainResults = rapid.IntRange(1, 30).Draw(rt, "retain_results")
		cfg.MaxPending = rapid.IntRange(1, 20).Draw(rt, "max_pending")
		r := replicaWith(t, cfg, paperPolicy(t), paperNodes(3))
		held, waiting, cursors := map[string]int{}, map[string]int{}, map[string]int64{}
		var sent []Dispatch
		var of []string
		clients, made := []string{"a", "b", "c", "d"}, 0
		for range rapid.IntRange(0, 200).Draw(rt, "steps") {
			c := rapid.SampledFrom(clients).Draw(rt, "client")
			switch rapid.IntRange(0, 5).Draw(rt, "step") {
			case 0, 1, 2: // it brings what it may
				if r.Admit("", c, 1) != nil {
					continue
				}
				made++
				actions, refusal := r.Submit(0, c, request(fmt.Sprint(made), 1, 1, 1))
				if refusal != nil {
					rt.Fatal(refusal)
				}
				sent, of = append(sent, actions.Send[0]), append(of, c)
				held[c]++
			case 3, 4: // a task ends
				if len(sent) == 0 {
					continue
				}
				i := rapid.IntRange(0, len(sent)-1).Draw(rt, "which")
				finish(t, r, 0, sent[i], cluster.Finished)
				waiting[of[i]]++
				sent, of = append(sent[:i], sent[i+1:]...), append(of[:i], of[i+1:]...)
			case 5: // it collects some
				most := rapid.IntRange(0, 5).Draw(rt, "most")
				records, cursor, err := r.Collect(nil, &cluster.CollectRequest{Client: c, After: cursors[c], Max: most})
				if err != nil {
					rt.Fatal(err)
				}
				_, _, _ = r.Collect(nil, &cluster.CollectRequest{Client: c, After: cursor, Max: 0})
				cursors[c] = cursor
				held[c] -= len(records)
				waiting[c] -= len(records)
			}
			all, holders := 0, 0
			for _, c := range clients {
				all += waiting[c]
				if held[c] > 0 {
					holders++
				}
			}
			if all != r.Uncollected() || holders != r.results.holders {
				rt.Fatalf("%d results of %d clients are counted, want %d of %d", r.Uncollected(), r.results.holders, all, holders)
			}
			if most := 3*cfg.RetainResults + cfg.MaxPending + len(clients); all > most { // 1 + 1/2 + 1/3 + 1/4 < 3
				rt.Fatalf("%d results wait, of at most %d", all, most)
			}
			for _, c := range clients {
				err, share := r.Admit("", c, 1), max(1, cfg.RetainResults/max(1, holders))
				switch full := len(sent) >= cfg.MaxPending; {
				case !full && held[c] < share && err != nil:
					rt.Fatalf("%s holds %d, less than its share of %d: %v", c, held[c], share, err)
				case !full && all >= cfg.RetainResults && held[c] >= share && err == nil:
					rt.Fatalf("%s holds %d, its share is %d, and it may bring more", c, held[c], share)
				}
			}
		}
	})
}

// The refusal says whose results they are, and what to do.
func TestCrowdedSaysWhose(t *testing.T) {
	cfg := testConfig()
	cfg.RetainResults = 4
	r := replicaWith(t, cfg, paperPolicy(t), paperNodes(3))
	for i := range 4 {
		finish(t, r, 0, submit(t, r, 0, request(fmt.Sprint(i), 1, 1, 1)), cluster.Finished)
	}
	err := r.Admit("", "client", 1)
	if !errors.Is(err, cluster.Overloaded) || !strings.Contains(err.Error(), "client client has 4 of them") ||
		!strings.HasSuffix(err.Error(), "collect them first") {
		t.Error(err)
	}
	if err := errors.Join(r.Admit("", "another", 1), r.Admit("", "", 1)); err != nil {
		t.Errorf("another client, and one that collects nothing: %v", err)
	}
	if n := r.Statistics().Denied[UncollectedDenial]; n != 1 {
		t.Errorf("%d submissions are counted as denied, want 1", n)
	}
}
