package telemetry

import "strings"

// RPCs declares what there is to see of a service's messages: how many of each kind went in and out, how many of them failed
// and how, and what else went wrong. counts has keys such as "in.submit", "out.enqueue", "errors.in.submit.overloaded" and "panics".
func RPCs(r *Registry, counts func() map[string]int64) {
	r.OnCollect("rpcs_total", "Request messages by kind and direction.", []string{"direction", "method"}, func(set SetFunc) {
		for key, n := range counts() {
			if part := strings.Split(key, "."); len(part) == 2 {
				set(float64(n), part[0], part[1])
			}
		}
	})
	r.OnCollect("rpc_errors_total", "Of them, those that failed, by the error's code or class.", []string{"direction", "method", "error"},
		func(set SetFunc) {
			for key, n := range counts() {
				if part := strings.Split(key, "."); len(part) == 4 && part[0] == "errors" {
					set(float64(n), part[1], part[2], part[3])
				}
			}
		})
	r.OnCollect("rpc_events_total", "Panics, bad messages, rejected connections, failed accepts and failed dials.", []string{"event"},
		func(set SetFunc) {
			for key, n := range counts() {
				if !strings.Contains(key, ".") {
					set(float64(n), key)
				}
			}
		})
}
