package rpc

// Method is a kind of request message. The same name on two services (cancel, tasks, settle,
// counters) is the same Method: a process counts what it sends apart from what it receives.
type Method uint8

const (
	MethodUnknown Method = iota
	MethodSubmit
	MethodCollect
	MethodCancel
	MethodTasks
	MethodComplete
	MethodPush
	MethodView
	MethodSettle
	MethodCounters
	MethodAttach
	MethodEnqueue
	MethodProbe
	MethodDrain
	MethodState
	MethodRegisterNode
	MethodUnregisterNode
	MethodRegisterScheduler
	MethodUnregisterScheduler
	MethodCheckScheduler
	MethodDelta // the flush of a scheduler's delta
	MethodReport
	MethodStatus

	numMethods
)

var methodNames = [numMethods]string{"unknown", "submit", "collect", "cancel", "tasks", "complete", "push",
	"view", "settle", "counters", "attach", "enqueue", "probe", "drain", "state", "register_node",
	"unregister_node", "register_scheduler", "unregister_scheduler", "check_scheduler", "delta", "report", "status"}

// String returns the name under which messages of this kind are counted.
func (m Method) String() string {
	if m < numMethods {
		return methodNames[m]
	}
	return methodNames[MethodUnknown]
}

// byWireName finds a Method by its name in the IDL, which differs for a few.
var byWireName = func() map[string]Method {
	m := map[string]Method{
		"registerNode": MethodRegisterNode, "unregisterNode": MethodUnregisterNode,
		"registerScheduler": MethodRegisterScheduler, "unregisterScheduler": MethodUnregisterScheduler,
		"checkScheduler": MethodCheckScheduler, "flush": MethodDelta,
	}
	for i := MethodSubmit; i <= MethodState; i++ {
		m[i.String()] = i
	}
	m["report"], m["status"] = MethodReport, MethodStatus
	return m
}()
