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

// Reference returns the path of a file of the published data, which is not part of the repository, but may
// stand beside it in shared/data. The test is skipped where it does not.
func Reference(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join(root(t), "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the published data is not here: %v", err)
	}
	return path
}

// root is the module's folder; tests run in that of their package.
func root(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder
		}
		above := filepath.Dir(folder)
		if above == folder {
			t.Fatal("no go.mod above the folder of the test")
		}
		folder = above
	}
}
