package rpc

import "github.com/apache/thrift/lib/go/thrift"

// Service is what a Server serves: one implementation with its conversions. Requests that are not
// valid never reach it; they are answered with a declared error (code cluster.Invalid).
type Service struct {
	endpoints map[string]endpoint // by name in the IDL
	snapshots bool                // messages may reach MaxSnapshotBytes
}

type endpoint struct {
	method   Method
	function thrift.TProcessorFunction
	granted  roles
}

func newService(service string, p thrift.TProcessor, snapshots bool) Service {
	s := Service{endpoints: make(map[string]endpoint), snapshots: snapshots}
	for name, function := range p.ProcessorMap() {
		s.endpoints[name] = endpoint{method: byWireName[name], function: function, granted: access[service][name]}
	}
	return s
}

// limit returns the largest message that a connection of s carries.
func (c *Config) limit(snapshots bool) int {
	if snapshots {
		return max(c.MaxSnapshotBytes, c.MaxMessageBytes)
	}
	return c.MaxMessageBytes
}
