package spool

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Whatever a user, a job and a task are called, the names of their files stay below the folder, are no longer than a file system
// takes, and say whose they are.
func TestNamesSurviveTheirEncoding(t *testing.T) {
	names := rapid.OneOf(rapid.StringN(1, 256, 256),
		rapid.SampledFrom([]string{"-", "..", ".", "/", "a/../b", "%2E", "a+", "+/", "job.12.out"}))
	rapid.Check(t, func(t *rapid.T) {
		checkNames(t, rapid.OneOf(rapid.Just(""), names).Draw(t, "user"),
			names.Draw(t, "job"), names.Draw(t, "task"), rapid.IntRange(1, 1000).Draw(t, "attempt"))
	})
}

func FuzzNames(f *testing.F) {
	f.Add("alice", "job", "task", 1)
	f.Add("", "", "..", 2)
	f.Add("~", strings.Repeat("/", 256), strings.Repeat("%", 256), 3)
	f.Fuzz(func(t *testing.T, user, job, task string, number int) {
		if len(user) <= 256 && len(job) <= 256 && len(task) <= 256 && task != "" && number > 0 {
			checkNames(t, user, job, task, number)
		}
	})
}

func checkNames(t interface{ Fatalf(string, ...any) }, user, job, task string, number int) {
	path := stem(user, job, task, number) + ".out"
	if !filepath.IsLocal(path) || filepath.Clean(path) != path {
		t.Fatalf("%q and %q make %q", job, task, path)
	}
	for part := range strings.SplitSeq(path, "/") {
		if len(part) > 255 || strings.HasPrefix(part, "..") {
			t.Fatalf("%q and %q make %q, in which %q is no name", job, task, path, part)
		}
	}
	gotUser, gotJob, gotTask, gotNumber, ending, ok := parse(path)
	if !ok || gotUser != user || gotJob != job || gotTask != task || gotNumber != number || ending != ".out" {
		t.Fatalf("%q, %q, %d make %q, which is %q, %q, %d, %q (%v)", job, task, number, path, gotJob, gotTask, gotNumber, ending, ok)
	}
}

// What encode does not write belongs to somebody else.
func FuzzForeignNames(f *testing.F) {
	f.Add("-/t.1.out")
	f.Add("%41/t.1.out")
	f.Add("j+/t.01.err")
	f.Add("~/j/t.1.err")
	f.Add("~alice/-/t.1.err")
	f.Fuzz(func(t *testing.T, path string) {
		if user, job, task, number, ending, ok := parse(path); ok && stem(user, job, task, number)+ending != path {
			t.Errorf("%q is taken for %q", path, stem(user, job, task, number)+ending)
		}
	})
}
