package rpc

import "testing"

// TestAdvertised: what others dial is the configured address, or the bound one if that can be dialled.
func TestAdvertised(t *testing.T) {
	for _, c := range []struct{ configured, bound, want string }{
		{"", "10.0.0.1:7000", "10.0.0.1:7000"},
		{"worker-3:7000", "[::]:7000", "worker-3:7000"},
		{"", "[::]:7000", ""},
		{"", "0.0.0.0:7000", ""},
		{"", "nonsense", ""},
	} {
		got, err := Advertised(c.configured, c.bound)
		if got != c.want || (err != nil) != (c.want == "") {
			t.Errorf("Advertised(%q, %q) = %q, %v; want %q", c.configured, c.bound, got, err, c.want)
		}
	}
}
