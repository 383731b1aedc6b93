package generator

import (
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"dodoor/internal/cluster"
)

// The marginals of the paper's first workload: Microsoft's Azure Traces for Packing 2020
// (AzurePublicDataset, CC-BY 4.0), requests that fit the cluster and last less than 600 s, the first
// 4,000 of which the paper replays. The tables hold counts and quantiles measured on those 4,000, no
// rows. A synthetic request draws a shape, then a duration from the curve of its number of cores, as
// the two are not independent (four-core machines live nearly twice as long as two-core ones).
// Arrivals are Poisson at ten a second: gaps measured there have mean 100.8 ms and a coefficient of
// variation of 0.995.

// AzureType and AzureMode label every Azure request, as in the prototype's trace.
const (
	AzureType = "simulated"
	AzureMode = "medium"
)

type azureShape struct {
	count      int // of 4,000 requests
	millicores int64
	memoryMB   int64
	diskMB     int64
	life       *[21]float64
}

var azureShapes = []azureShape{
	{3027, 2000, 4893, 9046, &twoCoreLife},
	{519, 4000, 9786, 14072, &fourCoreLife},
	{283, 1000, 2446, 4523, &smallLife},
	{50, 1000, 5592, 4523, &smallLife},
	{26, 2000, 2796, 5629, &twoCoreLife},
	{26, 420, 1398, 1809, &smallLife},
	{19, 840, 2796, 2311, &smallLife},
	{14, 2000, 22369, 9046, &twoCoreLife},
	{12, 4000, 19573, 14072, &fourCoreLife},
	{12, 2000, 9786, 9046, &twoCoreLife},
	{4, 2000, 22369, 8644, &twoCoreLife},
	{3, 1680, 5592, 3317, &smallLife},
	{2, 1000, 11184, 4523, &smallLife},
	{1, 2000, 11184, 9046, &twoCoreLife},
	{1, 4000, 22369, 14072, &fourCoreLife},
	{1, 4000, 5592, 7237, &fourCoreLife},
}

// Lifetimes in seconds at the 0, 5, 10 ... 100 % quantiles, by number of cores (small: below two).
var (
	twoCoreLife = [21]float64{1.1, 61.2, 69.9, 75.4, 82.4, 91.0, 108.6, 122.9, 138.6, 153.2, 167.6,
		183.4, 201.0, 229.0, 251.9, 277.6, 313.1, 373.1, 456.3, 543.3, 599.9}
	fourCoreLife = [21]float64{51.1, 78.2, 103.2, 137.8, 180.0, 213.9, 246.1, 310.1, 377.9, 432.6, 484.5,
		511.9, 528.9, 537.5, 546.6, 551.0, 555.9, 561.1, 564.9, 573.8, 599.4}
	smallLife = [21]float64{57.5, 72.7, 98.8, 107.4, 110.3, 161.8, 227.5, 285.5, 343.1, 391.3, 485.0,
		529.8, 529.8, 529.8, 529.8, 529.8, 555.6, 574.7, 586.0, 590.3, 595.2}
)

// Azure makes n synthetic VM requests with the marginals of the Azure packing trace.
func Azure(n int, seed uint64) ([]Request, error) {
	requests, err := AzureSeq(n, seed)
	if err != nil {
		return nil, err
	}
	return slices.AppendSeq(make([]Request, 0, n), requests), nil
}

// AzureSeq makes the requests of Azure one by one, the same whenever it is ranged over.
func AzureSeq(n int, seed uint64) (iter.Seq[Request], error) {
	if err := CheckCount(n); err != nil {
		return nil, err
	}
	return func(yield func(Request) bool) {
		rng := rand.New(rand.NewPCG(seed, azureStream))
		clock := unitClock{rng: rng}
		for i := range n {
			s := &azureShapes[pick(rng, len(azureShapes), func(i int) float64 { return float64(azureShapes[i].count) })]
			if !yield(Request{
				ID:   strconv.Itoa(i),
				Type: AzureType,
				Mode: AzureMode,
				Demand: cluster.Resources{
					cluster.Cores:  s.millicores,
					cluster.Memory: s.memoryMB,
					cluster.Disk:   s.diskMB,
				},
				Duration: drawLife(rng, s.life).Milliseconds(),
				Start:    clock.next(),
			}) {
				return
			}
		}
	}, nil
}

// drawLife inverts the distribution function, straight between two quantiles.
func drawLife(rng *rand.Rand, quantiles *[21]float64) time.Duration {
	x := rng.Float64() * float64(len(quantiles)-1)
	i := int(x)
	seconds := quantiles[i] + (x-float64(i))*(quantiles[i+1]-quantiles[i])
	return time.Duration(seconds * float64(time.Second))
}
