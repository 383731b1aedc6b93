package packing

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// The published tables.
const tables = `CREATE TABLE vm (vmId INTEGER, tenantId INTEGER, vmTypeId INTEGER, priority INTEGER, starttime REAL, endtime REAL);
	CREATE TABLE vmType (id INTEGER, vmTypeId INTEGER, machineId INTEGER, core REAL, memory REAL, hdd REAL, ssd REAL, nic REAL);`

// types are shares as they are published, of machine 1 and another one.
const types = `INSERT INTO vmType VALUES
	(1, 42, 1, 0.020833333333333332, 0.012444444444444444, NULL, 0.0294471, 0.01),
	(2, 42, 16, 0.019230769230769232, 0.012444444444444444, NULL, 0.02, 0.01),
	(3, 110, 1, 0.004375, 0.0035555555555555557, NULL, 0.00588942, 0.001),
	(4, 14, 1, 1, 1, NULL, 1, 1),
	(5, 7, 16, 0.02, 0.02, NULL, 0.02, 0.02),
	(6, 8, 1, 0.02, NULL, NULL, 0.02, 0.02);`

var small = cluster.Resources{cluster.Cores: 8000, cluster.Memory: 65536, cluster.Disk: cluster.MaxAmount}

// file makes a SQLite file with what the statements say.
func file(t interface{ Fatal(...any) }, dir string, statements ...string) string {
	path := filepath.Join(dir, "trace.sqlite")
	os.Remove(path)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{"PRAGMA synchronous = off"}, statements...) {
		if _, err := db.Exec(s); err != nil {
			t.Fatal(s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t interface{ Fatal(...any) }, path string, n int) []generator.Request {
	trace, err := Open(context.Background(), path, small, n)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	requests := slices.Collect(trace.Requests(context.Background()))
	if trace.Err() != nil || trace.Count() != len(requests) {
		t.Fatal(trace.Err(), trace.Count(), len(requests))
	}
	return requests
}

// Requests come as rows of the paper's trace: its sizes, in the order of their start.
func TestRequests(t *testing.T) {
	path := file(t, t.TempDir(), tables, types, `INSERT INTO vm VALUES
		(9, 1, 42, 0, 0.5, 0.5 + 60/86400.0),
		(8, 1, 110, 1, 0.25, 0.25 + 599.999/86400),
		(7, 1, 42, 0, 0.25 + 1.5/86400, 0.25 + 2.5/86400),
		(6, 2, 42, 0, 0.5, 0.5 + 0.001/86400),
		(20, 1, 42, 0, -0.001, 0.001),                  -- before the collection
		(21, 1, 42, 0, 14.001, 14.002),                 -- after it
		(22, 1, 42, 0, 0.5, NULL),                      -- end unknown
		(23, 1, 42, 0, 0.5, 0.5 + 600/86400.0),         -- too long
		(24, 1, 42, 0, 0.5, 0.5),                       -- over at once
		(25, 1, 14, 0, 0.5, 0.501),                     -- too large
		(26, 1, 7, 0, 0.5, 0.501),                      -- not on machine 1
		(27, 1, 8, 0, 0.5, 0.501),                      -- memory unknown
		(28, 1, 99, 0, 0.5, 0.501)                      -- no such type`)
	two := cluster.Resources{2000, 4893, 9046}
	request := func(id string, size cluster.Resources, duration int64, start time.Duration) generator.Request {
		return generator.Request{ID: id, Type: "simulated", Mode: "medium", Demand: size, Duration: duration, Start: start}
	}
	want := []generator.Request{
		request("8", cluster.Resources{420, 1398, 1809}, 599_999, 0),
		request("7", two, 1000, 1500*time.Millisecond),
		request("6", two, 1, 6*time.Hour),
		request("9", two, 60_000, 6*time.Hour),
	}
	if got := read(t, path, 100); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := read(t, path, 2); !slices.Equal(got, want[:2]) {
		t.Errorf("the first two: %+v", got)
	}
}

// Against a filter and a sort in memory.
func TestRequestsAreTheOracles(t *testing.T) {
	type vm struct {
		id, vmType, start, end int // times in seconds; end 0: NULL
	}
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		vms := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) vm {
			start := rapid.IntRange(-50, 14*86400+50).Draw(t, "start") / 40 * 40
			return vm{rapid.IntRange(1, 1e6).Draw(t, "id"), rapid.SampledFrom([]int{42, 110, 14, 7}).Draw(t, "type"), start,
				rapid.SampledFrom([]int{0, start, start + 1, start + 599, start + 600, start + 5000}).Draw(t, "end")}
		}), 1, 40).Draw(t, "vms")
		vms = append(vms, vm{0, 42, 10, 20})
		n := rapid.IntRange(1, 50).Draw(t, "n")

		var rows []string
		var want []vm
		for _, v := range vms {
			end := "NULL"
			if v.end != 0 {
				end = strconv.Itoa(v.end) + "/86400.0"
			}
			rows = append(rows, "("+strconv.Itoa(v.id)+",0,"+strconv.Itoa(v.vmType)+",0,"+strconv.Itoa(v.start)+"/86400.0,"+end+")")
			length := v.end - v.start
			if v.start >= 0 && v.start <= 14*86400 && length > 0 && length < 600 && (v.vmType == 42 || v.vmType == 110) {
				want = append(want, v)
			}
		}
		slices.SortFunc(want, func(a, b vm) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.id, b.id)) })
		want = want[:min(n, len(want))]
		got := read(t, file(t, dir, tables, types, "INSERT INTO vm VALUES "+strings.Join(rows, ",")), n)
		if len(got) != len(want) {
			t.Fatalf("%d requests, want %d", len(got), len(want))
		}
		for i, v := range want {
			q, start := got[i], time.Duration(v.start-want[0].start)*time.Second
			large := q.Demand[cluster.Cores] == 2000
			if q.ID != strconv.Itoa(v.id) || q.Duration != int64(v.end-v.start)*1000 || q.Start != start || large != (v.vmType == 42) {
				t.Fatalf("request %d is %+v, want %+v", i, q, v)
			}
		}
	})
}

func TestWrongFiles(t *testing.T) {
	row := "INSERT INTO vm VALUES (1, 1, 42, 0, 0.5, 0.501)"
	for want, path := range map[string]string{
		"no such file":                               filepath.Join(t.TempDir(), "none"),
		"is not a SQLite file: unpack":               text(t, "PK\x03\x04 and so on, and so on"),
		"trace.txt is not a SQLite file":             text(t, ""),
		"file is not a database":                     text(t, "SQLite format 3\x00"+strings.Repeat("x", 4096)),
		"has no table vm: it is not":                 file(t, t.TempDir(), "CREATE TABLE machines (id)"),
		"has no table vmType":                        file(t, t.TempDir(), strings.Replace(tables, "vmType (", "vmTypes (", 1), row),
		"table vm has no column endtime, but vmId, ": file(t, t.TempDir(), strings.Replace(tables, "endtime", "stop", 1)),
		"table vmType has no column core":            file(t, t.TempDir(), strings.Replace(tables, "core", "cpu", 1), row),
		"table vm is empty":                          file(t, t.TempDir(), tables, types),
		"table vmType is empty":                      file(t, t.TempDir(), tables, row),
		"no sizes for machine 1": file(t, t.TempDir(), tables,
			"INSERT INTO vmType VALUES (5, 42, 16, 0.02, 0.02, 0, 0.02, 0)", row),
		"table vmType: sql: Scan":                file(t, t.TempDir(), tables, types, "UPDATE vmType SET vmTypeId = 'A2'", row),
		"no request lasts less than ten minutes": file(t, t.TempDir(), tables, types, "INSERT INTO vm VALUES (1, 1, 42, 0, 0.5, 1.5)"),
	} {
		_, err := Open(context.Background(), path, small, 10)
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
			t.Errorf("want %q about %s, got %v", want, path, err)
		}
	}
}

func text(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "trace.txt")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestNumberOfRequests(t *testing.T) {
	if _, err := Open(context.Background(), "trace.sqlite", small, 0); err == nil ||
		!strings.Contains(err.Error(), "number of requests is 0") {
		t.Error(err)
	}
}

// A name means itself, whatever it holds, and a file that nobody may write is read.
func TestOddFileNames(t *testing.T) {
	path := file(t, t.TempDir(), tables, types, "INSERT INTO vm VALUES (1, 1, 42, 0, 0.5, 0.501)")
	dir := filepath.Join(t.TempDir(), "what? 100%#1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	odd := filepath.Join(dir, "a b?mode=rw.sqlite")
	if err := errors.Join(os.Rename(path, odd), os.Chmod(odd, 0o400), os.Chmod(dir, 0o500)); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700)
	if got := read(t, odd, 5); len(got) != 1 || got[0].Duration != 86_400 {
		t.Errorf("%+v", got)
	}
}

func TestReadingStopsWithItsContext(t *testing.T) {
	path := file(t, t.TempDir(), tables, types, `INSERT INTO vm VALUES
		(1, 1, 42, 0, 0.5, 0.501), (2, 1, 42, 0, 0.5, 0.501), (3, 1, 42, 0, 0.5, 0.501)`)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	trace, err := Open(ctx, path, small, 10)
	if err != nil {
		t.Fatal(err)
	}
	defer trace.Close()
	for range trace.Requests(ctx) {
		cancel()
	}
	if trace.Count() != 1 || !errors.Is(trace.Err(), context.Canceled) {
		t.Errorf("%d requests, %v", trace.Count(), trace.Err())
	}
	if _, err := Open(ctx, path, small, 10); !errors.Is(err, context.Canceled) {
		t.Errorf("opened in a context that has ended: %v", err)
	}
}
