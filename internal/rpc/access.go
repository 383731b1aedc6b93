package rpc

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
	"dodoor/internal/identity"
)

// roles is a set of roles.
type roles uint8

func these(all ...identity.Role) (set roles) {
	for _, r := range all {
		set |= 1 << r
	}
	return set
}

func (s roles) has(r identity.Role) bool { return s&(1<<r) != 0 }

func (s roles) list() []identity.Role {
	return slices.DeleteFunc(identity.Roles(), func(r identity.Role) bool { return !s.has(r) })
}

// String names them for people: "schedulers and operators".
func (s roles) String() string {
	var names []string
	for _, r := range s.list() {
		names = append(names, r.String()+"s")
	}
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

var (
	datastores = these(identity.DataService)
	schedulers = these(identity.Scheduler)
	workers    = these(identity.Worker)
	operators  = these(identity.Operator)
	people     = these(identity.Operator, identity.User)
	everybody  = these(identity.Roles()...)
)

// The services by their names in the IDL.
const (
	schedulerService = "SchedulerService"
	workerService    = "WorkerService"
	dataService      = "DataService"
)

// access says which roles may ask for a method of a service. What is missing nobody may ask for. Users see their own tasks and jobs
// alone; the services look after that.
var access = map[string]map[string]roles{
	schedulerService: {
		"submit": people, "collect": people, "cancel": people, "tasks": people, "estimates": people,
		"jobs": people, "jobTasks": people, "cancelJob": people, "retryJob": people, "forgetJob": people,
		"complete": workers, "push": datastores,
		"view": people, "setup": people,
		"settle": operators, "switchPolicy": operators, "counters": operators,
	},
	workerService: {
		"attach": schedulers, "enqueue": schedulers, "claim": schedulers, "probe": schedulers,
		"cancel": people | schedulers, "tasks": people | schedulers,
		"output": people, "refuses": people, "forgetJob": people, "setup": people,
		"drain": operators, "state": operators, "counters": operators,
	},
	dataService: {
		"registerNode": workers, "unregisterNode": workers, "report": workers,
		"registerScheduler": schedulers, "unregisterScheduler": schedulers, "checkScheduler": schedulers, "flush": schedulers,
		"status": everybody, "setup": everybody,
		"settle": operators, "counters": operators,
	},
}

// Right is who may ask for a method.
type Right struct {
	Service, Method string // by their names in the IDL
	Roles           []identity.Role
}

// Rights lists who may ask for what, in the order of services and methods.
func Rights() []Right {
	var all []Right
	for service, methods := range access {
		for method, granted := range methods {
			all = append(all, Right{service, method, granted.list()})
		}
	}
	slices.SortFunc(all, func(a, b Right) int {
		return strings.Compare(a.Service+"."+a.Method, b.Service+"."+b.Method)
	})
	return all
}

// denial is the answer to a caller who may not ask for a method; nil: he may.
func (e endpoint) denial(caller identity.Identity, method string) *cluster.Error {
	if e.granted.has(caller.Role) {
		return nil
	}
	return &cluster.Error{Code: cluster.Denied, Message: fmt.Sprintf("%s may not call %s: %s may", caller, method, e.granted)}
}

// honest fails for a message that names a sender who is not its caller. Over plaintext nobody knows who calls.
func honest(ctx context.Context, message any) error {
	caller := Caller(ctx)
	if caller.Role == identity.None {
		return nil
	}
	claimed, names := sender(message, caller.Role)
	if !names || claimed == caller.Name && !person(caller.Role) {
		return nil
	}
	return cluster.Errorf(cluster.Denied, "%s may not speak as %.80q: the name in a certificate is the only one that its owner has",
		caller, claimed)
}

// person says that no process of the cluster has the role.
func person(r identity.Role) bool { return people.has(r) }

// process is the name of the one process that a call is about.
type process string

// sender is who a message says that it is from, if it says so. A message that has to say so and does not is not valid, which is found
// later. Access has checked the role.
func sender(message any, role identity.Role) (name string, names bool) {
	var said *string
	switch m := message.(type) {
	case *dodoor.EnqueueRequest:
		if m != nil && m.Scheduler != nil {
			said = m.Scheduler.Name
		}
	case *dodoor.ClaimRequest:
		if m != nil && m.Scheduler != nil {
			said = m.Scheduler.Name
		}
	case *dodoor.SchedulerRef:
		if m != nil {
			said = m.Name
		}
	case *dodoor.Delta:
		if m != nil {
			said = m.Scheduler
		}
	case *dodoor.Node:
		if m != nil {
			said = m.Name
		}
	case *dodoor.Report:
		if m != nil {
			said = m.Node
		}
	case *dodoor.CompletionNotice:
		if m != nil {
			said = m.Node
		}
	case process:
		return string(m), true
	case cancellation: // people take everybody's claim back, and name none; a scheduler its own
		return m.scheduler, role == identity.Scheduler || m.scheduler != ""
	}
	if said == nil {
		return "", false
	}
	return *said, true
}
