package profile_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"dodoor/conf"
	"dodoor/profile"
)

// Two runs of a task that waits for 20 ms, as executor sleep is told to; the figures go into a file for -types.
func ExampleProfiling() {
	out, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(out)
	c, err := conf.Load("single", []string{"worker.executor=sleep",
		`task_type=[{name="nap", mode=[{name="short", cores=0.5, memory_mb=64, duration="20ms"}]}]`})
	if err != nil {
		panic(err)
	}
	p, err := profile.New(c, profile.Options{Class: "laptop", N: 2}, slog.New(slog.DiscardHandler), nil)
	if err == nil {
		err = p.Prepare()
	}
	if err == nil {
		err = p.Measure(context.Background())
	}
	if err != nil {
		panic(err)
	}
	figures, err := p.Write(filepath.Join(out, "types.toml"))
	if err != nil {
		panic(err)
	}
	for _, f := range figures {
		fmt.Printf("%s %s on %s: %g cores, at least 20 ms: %t\n", f.Type, f.Mode, f.Class, f.Cores, f.DurationMs >= 20)
	}
	// Output: nap short on laptop: 0.5 cores, at least 20 ms: true
}
