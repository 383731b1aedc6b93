package assemble

import (
	"slices"
	"testing"

	"dodoor/conf"
)

// Whoever allows commands has the executors of them and a spool, also without a task type; an emulated worker has none.
func TestExecutorsOfCommands(t *testing.T) {
	sleeping := []conf.TaskType{{Name: "t", Executor: "sleep"}}
	for _, c := range []struct {
		types         []conf.TaskType
		executor      string
		allow, images []string
		executors     []string
		spool         bool
	}{
		{types: sleeping, executors: []string{"sleep"}},
		{allow: []string{"*"}, executors: []string{"process"}, spool: true},
		{allow: []string{"*"}, executor: "sleep", executors: []string{"sleep"}},
		{images: []string{"*"}, executors: []string{"docker"}, spool: true},
		{types: sleeping, allow: []string{"/bin/true"}, images: []string{"a", "*"},
			executors: []string{"sleep", "process", "docker"}, spool: true},
	} {
		cfg := conf.Default()
		cfg.Types, cfg.Worker.Executor, cfg.Process.Allow, cfg.Docker.Images = c.types, c.executor, c.allow, c.images
		if c.spool { // a folder of its own is taken by every worker
			cfg.Worker.Spool = t.TempDir() + "/spool"
		}
		output, err := newSpool(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if got := Executors(cfg); !slices.Equal(got, c.executors) || (output != nil) != c.spool {
			t.Errorf("%v, spool %v; want %v, %v", got, output != nil, c.executors, c.spool)
		}
		if err := output.Close(); err != nil {
			t.Error(err)
		}
		if got := images(cfg); slices.Contains(got, "*") || slices.Contains(c.images, "a") != slices.Contains(got, "a") {
			t.Errorf("images that have to be there: %v", got)
		}
	}
}
