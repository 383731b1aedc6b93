package rpc

import (
	"fmt"
	"net"
)

// Advertised returns the address that others dial: the configured one, or else the bound one. Nobody
// else can dial an address that means every interface, so that one needs a configured address.
func Advertised(configured, bound string) (string, error) {
	if configured != "" {
		return configured, nil
	}
	host, _, err := net.SplitHostPort(bound)
	if err != nil {
		return "", fmt.Errorf("bound address: %w", err)
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		return "", fmt.Errorf("listening on every interface (%s): set the address that others dial", bound)
	}
	return bound, nil
}
