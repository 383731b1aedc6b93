package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Who supervises a service goes by its exit code: 2 would be the same again, 1 may pass.
func TestExitCodesForSupervisors(t *testing.T) {
	const nobodys = "192.0.2.1:20510" // RFC 5737
	for _, c := range []struct {
		set, says string
		code      int
	}{
		{"security.insecure=true", "cannot assign requested address", exitFailed},
		{"security.insecure=true", "plaintext: whoever reaches this address may do anything", exitFailed},
		{"security.insecure=false", nobodys + `", which other machines reach`, exitUsage},
		{"security.folder=" + t.TempDir(), "no bundle of the datastore datastore", exitFailed}, // it may come
	} {
		if _, stderr, code := dodoor("datastore", "-listen", nobodys, "-set", c.set); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%+v: exit code %d, %s", c, code, stderr)
		}
	}
	folder := t.TempDir()
	binary := filepath.Join(folder, "bin", "dodoor")
	if err := os.Mkdir(filepath.Dir(binary), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, []byte("#!/bin/sh\nexit 2\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	supervise := []string{"host", "supervise", "-conf", "../../conf/cluster-example.toml", "-folder", folder, "-host", "node-2",
		"-service", "node-2", "-unit", "a.service"}
	if _, stderr, code := dodoor(supervise...); code != exitUsage || !strings.Contains(stderr, "node-2 refuses to start (exit status 2)") {
		t.Errorf("a service that refuses: exit code %d, %s", code, stderr)
	}
	if err := os.Remove(binary); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := dodoor(supervise...); code != exitFailed || !strings.Contains(stderr, "no such file") {
		t.Errorf("no binary: exit code %d, %s", code, stderr)
	}
	note, err := os.ReadFile(filepath.Join(folder, "run", "node-2.json"))
	if err != nil || !strings.Contains(string(note), `"unit":"a.service"`) {
		t.Errorf("%s, %v", note, err)
	}
}
