package cluster

// Bounds of what schedulers tell each other of what they have seen.
const (
	MaxRuns     = 8       // run times in one entry
	MaxLearned  = 64      // bytes of a name that something is learned of
	MaxStamp    = 1 << 53 // decisions
	MaxMiss     = 1 << 30 // thousandths that an estimate may be off by
	MaxSteady   = 64      // runs that the steady mean of an entry rests on
	MaxLog      = 25_000  // thousandths of the logarithm of a run time in milliseconds: MaxDuration has fewer
	MaxEstimate = 1 << 16 // estimates in one answer
)

// Experience is what one scheduler has seen of the executions of one name on one class of nodes. Of two of the same
// process the one with the larger number is newer, and says all that the other said.
type Experience struct {
	Scheduler   string
	Incarnation int64
	Name        string
	Class       string
	Number      int64 // 1, 2, 3 ...
	Count       int64 // executions seen so far
	Runs        []Run // the newest ones, the newest first; never changed
	Off         int64 // how far off the estimates were lately, in thousandths of them
	Cores       int64 // millicores that the name needs, on any class, as the scheduler has seen by now; 0: not measured
	Memory      int64 // MiB, likewise
	SteadyLog   int64 // mean of the logarithms of run times in milliseconds since those last changed, in thousandths
	SteadyRuns  int64 // how many that is the mean of, up to MaxSteady
}

// Run is how long one execution took.
type Run struct {
	Took int64 // milliseconds of the task's own time
	At   int64 // decisions, cluster-wide, that were known when it ended
}

// EstimateRule says where an estimate comes from.
type EstimateRule uint8

const (
	LearnedRule  EstimateRule = iota + 1 // what was seen there
	ProfileRule                          // the profile's figure
	BorrowedRule                         // what was seen on another class
	DefaultRule                          // what nobody knows takes
)

var estimateRules = [...]string{"", "learned", "profile", "borrowed", "default"}

func (r EstimateRule) String() string {
	if int(r) < len(estimateRules) {
		return estimateRules[r]
	}
	return "unknown"
}

// Estimate is how long tasks of one name are expected to run on one class of nodes, and why.
type Estimate struct {
	Name, Class string
	Duration    int64 // in force, milliseconds
	Rule        EstimateRule
	Count       int64 // executions seen, by all schedulers
	Median, P95 int64 // of the newest, milliseconds
	Off         int64 // how far off lately, in thousandths
	Cores       int64 // millicores of the name, on any class; 0: not known
	Memory      int64 // MiB; 0: not known
}

// EstimateQuery asks for up to Max estimates of names that Name is a part of.
type EstimateQuery struct {
	Name string
	Max  int
}
