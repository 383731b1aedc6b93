package calibrate

import "dodoor/report/stats"

// Verdict is what the pairs of a cell prove. Only a whole interval proves anything, so that a single noisy run,
// which widens the interval, neither makes a cell fail nor pass.
type Verdict string

const (
	Agrees    Verdict = "agrees"    // the whole interval of the difference is within the tolerance
	Differs   Verdict = "differs"   // the whole interval is beyond it, on one side
	Undecided Verdict = "undecided" // anything else: more seeds would narrow the interval
)

// judge compares the interval of a difference with the tolerance, a share of at least 0. A single pair has no
// interval.
func judge(d stats.Change, tolerance float64) Verdict {
	switch {
	case d.Pairs < 2:
		return Undecided
	case d.Low > tolerance || d.High < -tolerance:
		return Differs
	case d.Low >= -tolerance && d.High <= tolerance:
		return Agrees
	}
	return Undecided
}

// together is the verdict on a cell: it differs when a figure does, and agrees when all do.
func together(all ...Verdict) Verdict {
	sum := Agrees
	for _, v := range all {
		switch {
		case v == Differs:
			return Differs
		case v == Undecided:
			sum = Undecided
		}
	}
	return sum
}
