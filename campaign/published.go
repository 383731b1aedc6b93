package campaign

// What is published: the figures of the paper (abstract and Sec. 6), and those of the authors' rerun of their
// heaviest loads. Changes are shares of the baseline's figure.
const (
	publishedFewerThanPot     = -0.55 // messages of a scheduler, Sec. 6.2
	publishedFewerThanPrequal = -0.66

	publishedAzureRateLeast    = 0.059 // throughput, the least and the most over all loads
	publishedAzureRateMost     = 0.332
	publishedAzureMean         = -0.148 // at the best load; so are all that follow, unless they say "low"
	publishedAzureMeanAbstract = -0.121
	publishedAzureTail         = -0.219
	publishedAzureLowMean      = -0.005
	publishedAzureLowTail      = -0.013

	publishedBenchLowMean = -0.027 // Sec. 6.3, against PoT
	publishedBenchLowTail = -0.020
	publishedBenchRate    = 0.215
	publishedBenchMean    = -0.072
	publishedBenchTail    = -0.246

	publishedBatchMean      = -0.071 // Sec. 6.4, the least b against the largest
	publishedBatchMessages  = 16_680
	publishedBatchLatencyMs = 31
)

// The authors' rerun.
const (
	rerunAzureRate, rerunAzureTail       = 1.16, 2456
	rerunAzurePotRate, rerunAzurePotTail = 0.90, 3407
	rerunBenchRate, rerunBenchTail       = 61.2, 1117
	rerunBenchPotRate, rerunBenchPotTail = 50.4, 1457
	rerunMessages, rerunPotMessages      = 1.35, 3
)

// Its scheduling latencies in ms: P50, P95, P99.
var (
	rerunAzureLatency    = []float64{2, 4, 21}
	rerunAzurePotLatency = []float64{3, 6, 27}
	rerunBenchLatency    = []float64{1, 2, 4}
	rerunBenchPotLatency = []float64{2, 3, 5}
)
