package conf

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// Clusters is a person's own file: names for clusters that run, so that commands about one need no address.
type Clusters struct {
	Path    string         // of the file, which need not exist; empty: the environment names no place for it
	Default string         `toml:"default"` // which one is meant where nothing names one; empty: none
	List    []NamedCluster `toml:"cluster"`
}

// NamedCluster says how to find a cluster: by the address of its data service, those of schedulers, or both; or by Conf.
type NamedCluster struct {
	Name       string   `toml:"name"`
	Datastore  string   `toml:"datastore"`  // address of the data service
	Schedulers []string `toml:"schedulers"` // addresses; asked where the data service does not answer
	Conf       string   `toml:"conf"`       // a profile or a file, as Load takes it
	Where      string   // file and line
}

// UserClusters reads dodoor/config.toml below the person's folder of configurations ($XDG_CONFIG_HOME, or ~/.config). Without
// such a file there are no clusters. Its error joins a Problem for everything that is wrong.
func UserClusters() (*Clusters, error) {
	folder, err := os.UserConfigDir()
	if err != nil { // a service without a home has no names for anything
		return &Clusters{}, nil
	}
	return readClusters(filepath.Join(folder, "dodoor", "config.toml"))
}

func readClusters(path string) (*Clusters, error) {
	c := &Clusters{Path: path}
	text, err := readFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ENOTDIR):
		return c, nil
	case err != nil:
		return nil, fmt.Errorf("read the names of clusters: %w", err)
	}
	r := newReport(path)
	doc, ok := r.parse(source{path, text}, 0)
	if !ok {
		return nil, r.err(nil)
	}
	for key, line := range doc.lines {
		r.origins[key] = origin{0, path, line}
	}
	binder{r}.bind(reflect.ValueOf(c).Elem(), doc.tree, "")
	c.validate(r)
	if err := r.err(c.labels()); err != nil {
		return nil, err
	}
	for i := range c.List {
		k := &c.List[i]
		k.Where = r.origin(index("cluster", i)).String()
		if IsPath(k.Conf) && !filepath.IsAbs(k.Conf) {
			k.Conf = filepath.Join(filepath.Dir(path), k.Conf)
		}
	}
	return c, nil
}

func (c *Clusters) validate(r *report) {
	seen := newUnique(r)
	for i := range c.List {
		k, path := &c.List[i], index("cluster", i)
		required(r, path+".name", k.Name)
		identifier(r, path+".name", k.Name)
		seen.add(path+".name", k.Name)
		address, file := r.written(path+".datastore"), r.written(path+".conf")
		for n, scheduler := range k.Schedulers {
			hostPort(r, index(path+".schedulers", n), scheduler, 1)
		}
		switch {
		case address && file:
			r.add(path+".conf", "must be left out where datastore is the address")
		case address:
			hostPort(r, path+".datastore", k.Datastore, 1)
		case len(k.Schedulers) > 0 && !file:
		case !file:
			r.add(path, "must have datastore, the address of its data service, or conf, a configuration that has the address")
		case k.Conf == "" || strings.HasPrefix(k.Conf, "~"): // only shells know what ~ is
			r.add(path+".conf", "must be a profile or a file, its path written out or from the folder of this file, found %q", k.Conf)
		}
	}
	if r.written("default") && !slices.Contains(c.Names(), c.Default) {
		r.add("default", "no cluster is called %q: there are %s", c.Default, listed(c.Names()))
	}
}

func (c *Clusters) labels() map[string]string {
	out := map[string]string{}
	for i, k := range c.List {
		if k.Name != "" {
			out[index("cluster", i)] = join("cluster", k.Name)
		}
	}
	return out
}

// Names lists the clusters in the order of the file.
func (c *Clusters) Names() []string {
	var names []string
	for _, k := range c.List {
		names = append(names, k.Name)
	}
	return names
}

// Find returns the cluster called name. Its error says which there are, and where.
func (c *Clusters) Find(name string) (NamedCluster, error) {
	names := c.Names()
	if i := slices.Index(names, name); i >= 0 {
		return c.List[i], nil
	}
	guess := ""
	if near, ok := nearest(name, names); ok {
		guess = "did you mean " + near + "? "
	}
	return NamedCluster{}, fmt.Errorf("no cluster is called %q: %s%s", name, guess, c.Summary())
}

// Summary says which names there are, and where, or how to make one.
func (c *Clusters) Summary() string {
	switch {
	case c.Path == "":
		return "neither $XDG_CONFIG_HOME nor $HOME is a folder where the file with the names could be"
	case len(c.List) == 0:
		return c.Path + ` has none; write there cluster = [{ name = "lab", datastore = "HOST:PORT" }]`
	}
	return fmt.Sprintf("%s has %s", c.Path, listed(c.Names()))
}
