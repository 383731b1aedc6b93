package telemetry

import "strings"

// RPCs publishes a service's count of request messages by direction and method, declared with those
// two labels. counts has keys such as "in.submit" and "out.enqueue"; other keys are not requests.
func RPCs(counts func() map[string]int64) func(set SetFunc) {
	return func(set SetFunc) {
		for key, n := range counts() {
			direction, method, ok := strings.Cut(key, ".")
			if ok && (direction == "in" || direction == "out") {
				set(float64(n), direction, method)
			}
		}
	}
}
