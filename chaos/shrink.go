package chaos

import "slices"

// Shrink leaves faults out of a scenario, one by one, as long as it still fails: what is left is needed for that. The faults of a smaller
// scenario happen to the same cluster and the same tasks.
func Shrink(s Scenario, fails func(Scenario) bool) Scenario {
	for i := len(s.Faults) - 1; i >= 0; i-- {
		smaller := s
		smaller.Faults = slices.Delete(slices.Clone(s.Faults), i, i+1)
		if fails(smaller) {
			s = smaller
		}
	}
	return s
}
