package scheduler

import (
	"math"
	"reflect"
	"strconv"
	"testing"
	"time"

	"dodoor/internal/cluster"
)

// A packed record loses nothing: every field comes back, and so does one that is added later.
func TestPackedRecords(t *testing.T) {
	values := map[string]func(reflect.Value, int64){
		"usual":   func(v reflect.Value, n int64) { set(v, n, "text") },
		"extreme": func(v reflect.Value, n int64) { set(v, math.MaxInt64-n, "") },
		"least":   func(v reflect.Value, n int64) { set(v, math.MinInt64+n, "a\x00b") },
	}
	var scratch []byte
	for name, fill := range values {
		var r cluster.TaskRecord
		n := int64(0)
		visit(reflect.ValueOf(&r).Elem(), func(v reflect.Value) {
			n++
			fill(v, n)
		})
		var p packed
		p, scratch = pack(&r, scratch)
		if got := p.unpack(r.User); got != r {
			t.Errorf("%s: packed %+v, unpacked %+v", name, r, got)
		}
	}
}

// visit calls f for every plain value in v.
func visit(v reflect.Value, f func(reflect.Value)) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			visit(v.Field(i), f)
		}
	case reflect.Array:
		for i := range v.Len() {
			visit(v.Index(i), f)
		}
	default:
		f(v)
	}
}

func set(v reflect.Value, n int64, text string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint8:
		v.SetUint(uint64(n) & math.MaxUint8)
	default:
		v.SetInt(n)
	}
}

// Older records are packed, collected or not: they can still be asked for, and those that were not collected be collected.
func TestPackedRecordsAreTold(t *testing.T) {
	const many = unpacked + 10
	s := newResults(2*many, math.MaxInt64)
	record := func(i int) cluster.TaskRecord {
		return cluster.TaskRecord{ID: strconv.Itoa(i), Type: "type", Worker: "w", Makespan: time.Duration(i), Outcome: cluster.Finished}
	}
	for i := range many {
		*s.add(0, collector{name: "client"}, strconv.Itoa(i), inJob{}) = record(i)
	}
	for _, collected := range []int{0, 7, 9, many} {
		records, cursor := s.collect(nil, collector{name: "client"}, int64(collected), many)
		if cursor < many || len(records) != many-collected {
			t.Fatalf("%d records, the last has cursor %d of %d", len(records), cursor, many)
		}
		for i := range records {
			if records[i] != record(collected+i) {
				t.Fatalf("record %d is %+v", collected+i, records[i])
			}
		}
		s.expire(0)
		if want := many - unpacked; s.claimed.packed != want {
			t.Errorf("%d collected: %d are packed, want %d", collected, s.claimed.packed, want)
		}
		r := Replica{results: s}
		for i, e := range s.claimed.ring {
			if got := *r.endedStatus(e).Record; got != record(i) {
				t.Fatalf("%d collected: record %d is %+v", collected, i, got)
			}
		}
	}
	s.limit = 5
	s.expire(0)
	if s.len() != 5 || s.claimed.packed != 0 || len(s.byID) != 5 {
		t.Errorf("%d are left, %d packed, %d by id", s.len(), s.claimed.packed, len(s.byID))
	}
}
