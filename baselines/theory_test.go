package baselines

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"dodoor/internal/cluster"
	"dodoor/scheduler"
)

var wholeTheory = flag.Bool("theory", false, "run the whole table of the b-batched process, 20 runs a cell: some ten minutes")

// The b-batched balls-into-bins process (Los and Sauerwald, 2022 and 2023): the bins' loads become
// known once per batch of b balls. Figures are the maximum over all batch ends of the largest load
// above the average, for n = 1000 bins and n² balls; the mean of many runs. They belong to choices
// drawn with replacement and random ties. The policies draw distinct candidates, and a tie goes to the
// first drawn: at n = 1000 that is statistically the same, since two draws coincide once in a thousand
// balls and the first of two uniform draws is uniform.
const bins = 1000

var batchSizes = [...]int{1, 2, 5, 10, 20, 50} // in units of n

// column is one process of the table and the policy that is to show it.
type column struct {
	process  string
	policy   func(t *testing.T) scheduler.Policy
	weighted bool                     // Exp(1) weights, else unit weights
	gap      [len(batchSizes)]float64 // by batchSizes
}

var columns = []column{
	{"two choices", named("cached-pot"), false, [...]float64{8.36, 10.64, 15.98, 22.84, 33.86, 64.92}},
	{"three choices", func(*testing.T) scheduler.Policy { return &freestOfThree{} }, false, [...]float64{9.92, 13.84, 21.60, 33.30, 55.64, 121.2}},
	{"(1+0.7)", named("oneplusbeta", func(k *Knobs) { k.Beta = 0.7 }), false, [...]float64{8.54, 10.04, 14.20, 19.54, 28.14, 48.90}},
	{"(1+0.5)", named("oneplusbeta", func(k *Knobs) { k.Beta = 0.5 }), false, [...]float64{11.22, 11.76, 13.38, 17.68, 24.94, 40.98}},
	{"two choices, Exp(1) weights", named("dodoor", func(k *Knobs) { k.Alpha = 1 }), true, [...]float64{17.99, 20.54, 26.68, 33.90, 46.52, 76.92}},
}

func named(policy string, set ...func(*Knobs)) func(t *testing.T) scheduler.Policy {
	return func(t *testing.T) scheduler.Policy { return newPolicy(t, policy, set...) }
}

// tolerance is how far the mean may be from the table's.
const tolerance = 0.05

// TestTheoryOfBatchedChoices runs some cells of the table, with -theory all.
func TestTheoryOfBatchedChoices(t *testing.T) {
	for _, c := range columns {
		for i, size := range batchSizes {
			runs := 20
			if !*wholeTheory {
				runs = 5
			}
			t.Run(fmt.Sprintf("%s b=%dn", c.process, size), func(t *testing.T) {
				var sum, squares float64
				for seed := range runs {
					gap := batchedGap(t, &c, size*bins, uint64(seed))
					sum += gap
					squares += gap*gap
				}
				mean := sum / float64(runs)
				sd := math.Sqrt((squares/float64(runs) - mean*mean) * float64(runs) / float64(runs-1))
				t.Logf("gap %.2f, the table says %.2f (%+.1f %%), sd %.2f %.1f%%", mean, c.gap[i], 100*(mean/c.gap[i]-1), sd, sd/mean*100)
				if math.Abs(mean/c.gap[i]-1) > tolerance {
					t.Errorf("gap %.2f, the table says %.2f (%+.1f %%)", mean, c.gap[i], 100*(mean/c.gap[i]-1))
				}
			})
		}
	}
}

// weightUnit is the resolution of weights: durations are whole milliseconds.
const weightUnit = 1000

// batchedGap drives the column's policy with n² tasks that never complete, against a view that is
// brought up to date once per batch.
func batchedGap(t *testing.T, c *column, batch int, seed uint64) float64 {
	p := c.policy(t)
	v := viewOf(t, bins, p)
	weights := rand.New(rand.NewPCG(seed, 1))
	task := cluster.Task{HasUniform: true, Uniform: cluster.Shape{Demand: cluster.Resources{cluster.Memory: 1}, Duration: weightUnit}}
	loads := make([]cluster.Load, bins)
	gap, total := 0.0, int64(0)
	for ball := range bins * bins {
		task.Seed = cluster.HashID(strconv.Itoa(int(seed)*bins*bins + ball))
		if c.weighted {
			task.Uniform.Duration = int64(math.Round(weights.ExpFloat64() * weightUnit))
		}
		node := p.Submit(0, &task, v).Place[0].Node
		loads[node] = loads[node].Add(cluster.LoadOf(task.Uniform))
		total += task.Uniform.Duration
		if (ball+1)%batch == 0 {
			gap = max(gap, float64(publish(v, loads))-float64(total)/bins)
		}
	}
	return gap / weightUnit
}

// publish brings the view up to date and returns the largest load.
func publish(v *scheduler.View, loads []cluster.Load) int64 {
	largest := int64(0)
	for i := range loads {
		v.Node(i).Load = loads[i]
		largest = max(largest, loads[i].Duration)
	}
	return largest
}
