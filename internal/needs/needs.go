// Package needs decides what a test does without something that it needs. Only tests import it.
package needs

import (
	"os"
	"path/filepath"
	"testing"
)

// Real takes the error of a test that lacks a real part, such as a container engine, a program or a kernel
// feature. Where everything has to be checked (CI=true), the test fails; on somebody's machine it is skipped,
// and says why. Without an error it goes on.
func Real(t testing.TB, err error) {
	t.Helper()
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatalf("%v (and CI needs it)", err)
	default:
		t.Skip(err)
	}
}

// Reference returns the path of a file of the published data, which is not part of the repository: it lies in
// the folder that DODOOR_DATA names. Without that variable the test is skipped; without the file it fails,
// because somebody who named a folder wants the test to run.
func Reference(t testing.TB, name string) string {
	t.Helper()
	folder := os.Getenv("DODOOR_DATA")
	if folder == "" {
		t.Skip("DODOOR_DATA names no folder with the published data: CONTRIBUTING.md says where they come from")
	}
	path := filepath.Join(folder, name)
	if !filepath.IsAbs(path) {
		t.Fatalf("DODOOR_DATA=%s: want an absolute path, tests run in the folders of their packages", folder)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("DODOOR_DATA: %v: CONTRIBUTING.md says where the file comes from", err)
	}
	return path
}
