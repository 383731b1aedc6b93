package rpc

import (
	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

// Service is what a Server serves: one implementation with its conversions. Requests that are not
// valid never reach it; they are answered with a declared error (code cluster.Invalid).
type Service struct {
	endpoints map[string]endpoint // by name in the IDL
	snapshots bool                // messages may reach MaxSnapshotBytes
}

type endpoint struct {
	method   Method
	function thrift.TProcessorFunction
	waits    bool // a long poll: takes no handler slot, and its context ends as soon as the server stops
}

// SchedulerService serves s. Only Collect is exempt from Config.MaxHandlers: it waits for work to
// end, which the other methods have to report.
func SchedulerService(s Scheduler, dims cluster.Dimensions) Service {
	return newService(dodoor.NewSchedulerServiceProcessor(&schedulerHandler{s, dims}), true)
}

// WorkerService serves w.
func WorkerService(w Worker, dims cluster.Dimensions) Service {
	return newService(dodoor.NewWorkerServiceProcessor(&workerHandler{w, dims}), false)
}

// DataServiceService serves d.
func DataServiceService(d DataService, dims cluster.Dimensions) Service {
	return newService(dodoor.NewDataServiceProcessor(&dataHandler{d, dims}), true)
}

func newService(p thrift.TProcessor, snapshots bool) Service {
	s := Service{endpoints: make(map[string]endpoint), snapshots: snapshots}
	for name, function := range p.ProcessorMap() {
		method := byWireName[name]
		s.endpoints[name] = endpoint{method: method, function: function, waits: method == MethodCollect}
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
