package conf

import (
	"embed"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Complete configurations, loaded by name.
//
//go:embed cluster-example.toml docker.toml dodoor+lean.toml local.toml paper.toml paper-as-run.toml production.toml single.toml
var profiles embed.FS

// Task types alone, included by name.
//
//go:embed functionbench.toml functionbench-docker.toml
var catalogs embed.FS

// Profiles lists the configurations that Load knows by name.
func Profiles() []string { return embedded(profiles) }

func embedded(files embed.FS) []string {
	entries, _ := fs.ReadDir(files, ".") // the root of an embedded tree is always readable
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".toml"))
	}
	slices.Sort(names) // not the order of the files: "-" sorts before "."
	return names
}

// IsPath tells a path from the name of something embedded.
func IsPath(name string) bool {
	return strings.ContainsRune(name, '/') || strings.HasSuffix(name, ".toml")
}

// find returns the main text, and how to open what it includes.
func find(profileOrPath string) (source, opener, error) {
	shipped := "shipped profiles are " + listed(Profiles())
	if !IsPath(profileOrPath) {
		text, err := profiles.ReadFile(profileOrPath + ".toml")
		if err != nil {
			return source{}, nil, fmt.Errorf("no profile is called %q: %s; a file needs a / or .toml in its name", profileOrPath, shipped)
		}
		return source{profileOrPath + ".toml", text}, openEmbedded, nil
	}
	text, err := readFile(profileOrPath)
	if err != nil {
		return source{}, nil, fmt.Errorf("read configuration: %w (%s)", err, shipped)
	}
	open := func(name string) (source, error) {
		if !IsPath(name) {
			return openEmbedded(name)
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(filepath.Dir(profileOrPath), name)
		}
		text, err := readFile(name)
		return source{name, text}, err
	}
	return source{profileOrPath, text}, open, nil
}

// openEmbedded opens an embedded list of task types. A profile inside the binary has no folder, so
// it cannot include a path.
func openEmbedded(name string) (source, error) {
	text, err := catalogs.ReadFile(name + ".toml")
	if err != nil || IsPath(name) {
		return source{}, fmt.Errorf("nothing to include is called %q: there is %s", name, listed(embedded(catalogs)))
	}
	return source{name + ".toml", text}, nil
}

// readFile reads a file up to one byte more than a configuration may have, so that a huge one is
// refused and not read.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxFileBytes+1))
}
