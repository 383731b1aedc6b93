package campaign_test

import (
	"context"
	"fmt"

	"dodoor/campaign"
)

// The study of batch sizes with a few tasks: enough to see that everything works, and no figure.
func ExamplePlan() {
	o := campaign.Options{Seeds: 1, Quick: true, Only: []string{"batch"}}
	studies, err := campaign.Studies(o)
	if err != nil {
		panic(err)
	}
	plan, err := campaign.NewPlan(studies, o)
	if err != nil {
		panic(err)
	}
	results, err := plan.Run(context.Background(), campaign.Simulate, 2, nil)
	if err != nil {
		panic(err)
	}
	page := plan.Page(results, campaign.About{Command: "go test"})
	fmt.Println(plan.Runs(), "runs, a page in Markdown:", string(page[:len("# Reproduction")]))
	// Output: 5 runs, a page in Markdown: # Reproduction
}
