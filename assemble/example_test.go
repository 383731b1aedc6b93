package assemble_test

import (
	"fmt"

	"dodoor/assemble"
	"dodoor/conf"
	"dodoor/sim"
)

// From a profile to the simulator: what dodoor simulate does before it writes rows.
func ExampleSimulator() {
	c, err := conf.Load("paper", []string{"generator.trace=functionbench", "generator.n=400", "generator.qps=20"})
	if err != nil {
		panic(err)
	}
	workload, err := assemble.Workload(c, "")
	if err != nil {
		panic(err)
	}
	cfg, err := assemble.Simulator(c, workload)
	if err != nil {
		panic(err)
	}
	result, err := sim.Run(cfg)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d tasks on %d workers, placed by %d schedulers\n", result.Finished(), len(cfg.Nodes), cfg.Schedulers)
	// Output: 400 tasks on 100 workers, placed by 5 schedulers
}
