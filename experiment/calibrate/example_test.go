package calibrate_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"

	"dodoor/conf"
	"dodoor/experiment"
	"dodoor/experiment/calibrate"
)

// One cell, two seeds: four short runs, half of them on real services in this process.
func ExampleCalibration() {
	out, err := os.MkdirTemp("", "example")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(out)
	c, err := conf.Load("paper", []string{"generator.warmup=0", "class.m510.count=4", "class.xl170.count=3", "class.c6525-25g.count=2",
		"class.c6620.count=2", "http.listen=\"\""})
	if err != nil {
		panic(err)
	}
	base := experiment.Setting{Conf: c, Dir: out, Log: slog.New(slog.DiscardHandler)}
	k, err := calibrate.New(base, "functionbench:random:20:100:50", 2)
	if err != nil {
		panic(err)
	}
	const anything = 1e9 // on a machine that does other things
	result, err := k.Run(context.Background(), anything, io.Discard)
	if err != nil {
		panic(err)
	}
	row := result.Cells[0]
	fmt.Printf("%s, %d pairs, control messages per task: %g here, %g simulated: %s\n", row.Policy, row.MakespanMean.Pairs,
		row.Local.ControlMessagesPerTask, row.Sim.ControlMessagesPerTask, row.Verdict)
	// Output: random, 2 pairs, control messages per task: 1 here, 1 simulated: agrees
}
