package generator

import (
	"bytes"
	"reflect"
	"strings"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

func TestRunInfoRoundTrip(t *testing.T) {
	ended := time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC)
	want := &RunInfo{
		RowsVersion: RowsVersion, Policy: "dodoor", On: "local", Trace: "azure", QPS: 2.5, TraceScale: 1, TimeScale: 200, Seed: 1<<63 + 1,
		Tasks: 4000, Warmup: 100,
		Schedulers: 5, Classes: []ClassInfo{{"m510", 40, 8, 65536, 8}}, Settings: map[string]any{"score": map[string]any{"alpha": 0.5}},
		Versions: map[string]string{"go": "1.26"}, Host: "here", Started: ended.Add(-time.Hour), Ended: &ended, DecisionsBefore: 7,
		Before: Counters{Schedulers: map[string]map[string]int64{"s0": {"in.submit": 3}}, Data: map[string]int64{"in.report": 9}},
	}
	var b bytes.Buffer
	if err := WriteRunInfo(&b, want); err != nil {
		t.Fatal(err)
	}
	got, err := ReadRunInfo(&b)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("wrote %+v\nread %+v, %v", want, got, err)
	}
}

func TestReadRunInfoRefusals(t *testing.T) {
	for text, want := range map[string]string{
		``:                                    "not a run description",
		`{"rows_version":2,"time_scale": 1`:   "not a run description: unexpected EOF",
		`[]`:                                  "not a run description",
		`{"rows_version":3}`:                  "rows_version is 3 and this dodoor reads 2: rows of another version",
		`{}`:                                  "rows_version is 1",
		`{"rows_version":2,"time_scale": -2}`: "time_scale is -2",
		`{"rows_version":2,"time_scale":1,"warmup":-1}`:                         "warmup -1",
		`{"rows_version":2,"time_scale":1,"seed":-1}`:                           "seed",
		`{"rows_version":2,"time_scale":1,"classes":[{"name":"x","nodes":-1}]}`: `class "x" has -1 nodes`,
	} {
		if _, err := ReadRunInfo(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestClassesOf(t *testing.T) {
	node := func(class string, cores int64) cluster.Node {
		return cluster.Node{Class: class, Capacity: cluster.Resources{cores, 1024}, Slots: 4}
	}
	got := ClassesOf([]cluster.Node{node("b", 8000), node("a", 4000), node("b", 8000), node("b", 6000)})
	want := []ClassInfo{{"b", 2, 8, 1024, 4}, {"a", 1, 4, 1024, 4}, {"b", 1, 6, 1024, 4}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}
