package conf

import (
	"os"
	"path/filepath"
	"testing"
)

// FuzzClusters reads any file as the user's list of clusters: it is understood, or refused with a reason.
func FuzzClusters(f *testing.F) {
	f.Add([]byte("[[cluster]]\nname = \"a\"\nconf = \"a.toml\"\n"))
	f.Add([]byte("[[cluster]]\nname = \"a\"\ndatastore = \"127.0.0.1:1\"\n[[cluster]]\nname = \"a\"\n"))
	f.Add([]byte("cluster = 1"))
	path := filepath.Join(f.TempDir(), "config.toml")
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := readClusters(path)
		if (c == nil) == (err == nil) {
			t.Fatalf("%v, %v", c, err)
		}
		if err != nil && err.Error() == "" {
			t.Fatal("refused without a reason")
		}
	})
}
