package main

import (
	"bytes"
	"os"
	"strings"
	"syscall"
	"testing"
)

// full is a disk without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// What cannot be printed is no success, and the id of a job that was submitted is told nevertheless.
func TestPrintingFails(t *testing.T) {
	address := startForJobs(t)
	for _, c := range []struct {
		says string
		args []string
	}{
		{" is submitted, but its id could not be printed: no space left on device", []string{"submit", "--", "true"}},
		{"no space left on device", []string{"jobs"}},
		{"no space left on device", []string{"jobs", "-json"}},
	} {
		var stderr bytes.Buffer
		args := append([]string{c.args[0], "-datastore", address}, c.args[1:]...)
		if code := dispatch(args, full{}, &stderr); code != exitFailed || !strings.Contains(stderr.String(), c.says) {
			t.Errorf("%q: exit code %d, %s", c.args, code, &stderr)
		}
		if id, found := strings.CutPrefix(stderr.String(), "dodoor submit: job "); found {
			id, _, _ = strings.Cut(id, " ")
			stderr.Reset()
			if code := dispatch([]string{"job", "-datastore", address, id}, full{}, &stderr); code != exitFailed ||
				!strings.Contains(stderr.String(), "no space left") {
				t.Errorf("exit code %d, %s", code, &stderr)
			}
		}
	}
}

// A task that prints for as long as it runs ends when nobody reads any more.
func TestNobodyReads(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer write.Close()
	read.Close()
	var stderr bytes.Buffer
	if code := dispatch([]string{"run", "-quiet", "--", "sleep", "1000"}, write, &stderr); code != exitFailed || stderr.Len() > 0 {
		t.Errorf("exit code %d: %s", code, &stderr)
	}
}
