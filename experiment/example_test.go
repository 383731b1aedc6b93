package experiment_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"dodoor/conf"
	"dodoor/experiment"
)

// The paper's cluster in virtual time: 400 requests under dodoor, whose rows and summary lie in a directory. With
// OnLocal in place of OnSim, the same takes place on real services in this process.
func ExampleRun() {
	out, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(out)
	c, err := conf.Load("paper", []string{"scheduler.policy=dodoor", "generator.trace=functionbench", "generator.n=400", "generator.qps=20"})
	if err != nil {
		panic(err)
	}
	s := experiment.Setting{Conf: c, On: experiment.OnSim, Dir: filepath.Join(out, "run"), Log: slog.Default()}
	r, err := experiment.Run(context.Background(), s)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d of %d tasks, %.3f control messages each\n", r.Summary.Completed, r.Summary.Tasks, r.Summary.ControlMessagesPerTask)
	files, _ := filepath.Glob(filepath.Join(s.Dir, "*"))
	for _, f := range files {
		fmt.Println(filepath.Base(f))
	}
	// Output:
	// 400 of 400 tasks, 1.175 control messages each
	// nodes.csv
	// run.json
	// summary.json
	// tasks.csv
}
