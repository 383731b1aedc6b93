package baselines

import (
	"time"

	"dodoor/scheduler"
)

// PrequalKnobs configure the policy prequal. The names in brackets are those of the publication
// (Wydrowski et al., "Load is not what you should balance: introducing Prequal", NSDI'24).
type PrequalKnobs struct {
	Latency  string        // what a node's latency is: "history" (median of recent tasks, as published) or "pending" (queued duration D)
	Reuse    float64       // uses per probe answer [b_reuse]; 0: the published formula
	MaxAge   time.Duration // of a probe answer
	Pool     int           // probe answers kept [m]
	Quantile float64       // of recent RIFs, above which a node is hot [Q_RIF]
	Probes   float64       // per task [r_probe]
	Removals float64       // of pool entries, per task [r_remove]
	Delta    float64       // net growth of the pool that the formula for b_reuse aims at [δ]
	Idle     time.Duration // without a task, after which a round of probes goes out; 0: never
}

// DefaultPrequal holds the published values. The Dodoor paper's runs differ in Reuse = 1 (Sec. 6.1).
func DefaultPrequal() *PrequalKnobs {
	return &PrequalKnobs{Latency: "history", MaxAge: time.Second, Pool: 16, Quantile: 0.84, Probes: 3, Removals: 1, Delta: 1}
}

// Table describes the knobs. As many answers as the pool holds are probed or removed per task, at most.
func (k *PrequalKnobs) Table() scheduler.Table {
	pool := float64(k.Pool)
	return scheduler.Table{Name: "prequal", Knobs: []scheduler.Knob{
		{Key: "probes", Value: &k.Probes, Range: scheduler.Range{High: pool, Limit: "pool", Above: true},
			Means: "r_probe: probes per task; a fraction is met by rounding. Costs as many messages."},
		{Key: "pool", Value: &k.Pool, Range: scheduler.Range{Low: 2, High: 1024}, Means: "m: answers kept."},
		{Key: "q_rif", Value: &k.Quantile, Range: scheduler.Range{High: 1},
			Means: "A node is hot above this quantile of recent requests in flight; " +
				"0: the number of tasks decides alone, 1: latency does."},
		{Key: "remove", Value: &k.Removals, Range: scheduler.Range{High: pool, Limit: "pool"},
			Means: "r_remove: answers removed per task; a fraction is met by rounding."},
		{Key: "delta", Value: &k.Delta, Range: scheduler.Range{High: 100}, Means: "δ of the reuse formula."},
		{Key: "reuse", Value: &k.Reuse, Range: scheduler.Range{Zero: "the formula", Low: 1, High: reuseCap},
			Means: "Uses of one answer: max{1, (1+δ)/((1−m/n)·r_probe − r_remove)}; the Dodoor paper's runs state 1 (Sec. 6.1)."},
		{Key: "age_limit", Value: &k.MaxAge, Means: "Older answers go. At less than a task per second and scheduler the pool runs empty and " +
			"Prequal becomes Random."},
		{Key: "latency", Value: &k.Latency, Range: scheduler.Range{Words: []string{"history", "pending"}},
			Means: "`history`: median latency of recent tasks near the current load, as published; `pending`: queued duration, as in Dodoor's " +
				"prototype."},
		{Key: "idle_probing", Value: &k.Idle, Range: scheduler.Range{Zero: "off"},
			Means: "A scheduler without a task for so long sends a round of `probes` " +
				"on its own, again and again, which costs as many messages and keeps the pool warm at low rates: choose less than `age_limit`. " +
				"Schedulers look every 20 ms of real time."},
	}}
}
