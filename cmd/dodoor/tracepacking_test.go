package main

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// packingFile makes a file as the Azure packing trace is published: a request of 2 cores, one of 12 and one
// that lasts a day.
func packingFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "packing.sqlite")
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`CREATE TABLE vm (vmId INTEGER, tenantId INTEGER, vmTypeId INTEGER, priority INTEGER, starttime REAL, endtime REAL);
		CREATE TABLE vmType (id INTEGER, vmTypeId INTEGER, machineId INTEGER, core REAL, memory REAL, hdd REAL, ssd REAL, nic REAL);
		INSERT INTO vmType VALUES (1, 4, 1, 2/96.0, 0.0125, NULL, 0.03, 0), (2, 5, 1, 0.125, 0.0125, NULL, 0.03, 0);
		INSERT INTO vm VALUES (1, 1, 4, 0, 0.5, 0.501), (2, 1, 5, 0, 0.5, 0.501), (3, 1, 4, 0, 0.5, 1.5)`); err != nil {
		t.Fatal(err)
	}
	return path
}

// What fits every class of the configuration comes out, as a trace that can be replayed; the rest is told.
func TestTraceReadsThePublishedFile(t *testing.T) {
	path := packingFile(t)
	code, text, messages := trace("azure", "-packing", path, "-conf", "paper")
	if code != exitDone || !strings.Contains(messages, "1 requests, not 4000: "+path+" has no more") {
		t.Fatalf("exit code %d, %s", code, messages)
	}
	requests, err := generator.ReadTrace(strings.NewReader(text), cluster.Standard(), 0)
	want := generator.Request{ID: "1", Type: "simulated", Mode: "medium", Demand: cluster.Resources{2000, 4915, 9216}, Duration: 86400}
	if err != nil || len(requests) != 1 || requests[0] != want {
		t.Errorf("%+v, want %+v: %v", requests, want, err)
	}
	large := write(t, "large.toml", "[[class]]\nname = \"c\"\ncores = 12\nmemory_mb = 65536\n")
	out := filepath.Join(t.TempDir(), "published.csv")
	code, text, messages = trace("azure", "-packing", path, "-conf", large, "-n", "2", "-out", out)
	if code != exitDone || text+messages != "" {
		t.Errorf("exit code %d, %s%s", code, text, messages)
	}
	if _, text, _ := trace("stats", out); !strings.HasPrefix(text, "requests    2\n") {
		t.Error(text)
	}
	disk := write(t, "disk.toml", "[[class]]\nname = \"c\"\ncores = 8\nmemory_mb = 65536\ndisk_mb = 9000\n")
	code, _, messages = trace("azure", "-packing", path, "-conf", disk)
	if code != exitUsage || !strings.Contains(messages, "no request lasts less than ten minutes and fits every node class") {
		t.Errorf("disks too small: exit code %d, %s", code, messages)
	}
}

func TestTraceRefusesWhatIsNotPublished(t *testing.T) {
	zip := write(t, "trace.zip", "PK\x03\x04")
	out := filepath.Join(t.TempDir(), "out.csv")
	code, stdout, stderr := trace("azure", "-packing", zip, "-out", out)
	if code != exitUsage || stdout != "" || !strings.Contains(stderr, "dodoor trace: "+zip+" is not a SQLite file") {
		t.Errorf("exit code %d, %s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("something was written")
	}
}
