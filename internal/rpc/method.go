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
	MethodSetup
	MethodSwitchPolicy
	MethodJobs
	MethodJobTasks
	MethodCancelJob
	MethodRetryJob
	MethodForgetJob
	MethodRefuses
	MethodOutput
	MethodEstimates
	MethodClaim

	numMethods
)

// methods says of each Method what it is called, and how it is served.
var methods = [numMethods]struct {
	wire    string // in the IDL
	counted string // in counters and errors
	waits   bool   // a long poll: takes no handler slot, and its context ends as soon as the server stops
}{
	MethodUnknown:             {counted: "unknown"},
	MethodSubmit:              {wire: "submit", counted: "submit"},
	MethodCollect:             {wire: "collect", counted: "collect", waits: true},
	MethodCancel:              {wire: "cancel", counted: "cancel"},
	MethodTasks:               {wire: "tasks", counted: "tasks"},
	MethodComplete:            {wire: "complete", counted: "complete"},
	MethodPush:                {wire: "push", counted: "push"},
	MethodView:                {wire: "view", counted: "view"},
	MethodSettle:              {wire: "settle", counted: "settle"},
	MethodCounters:            {wire: "counters", counted: "counters"},
	MethodAttach:              {wire: "attach", counted: "attach"},
	MethodEnqueue:             {wire: "enqueue", counted: "enqueue"},
	MethodProbe:               {wire: "probe", counted: "probe"},
	MethodDrain:               {wire: "drain", counted: "drain"},
	MethodState:               {wire: "state", counted: "state"},
	MethodRegisterNode:        {wire: "registerNode", counted: "register_node"},
	MethodUnregisterNode:      {wire: "unregisterNode", counted: "unregister_node"},
	MethodRegisterScheduler:   {wire: "registerScheduler", counted: "register_scheduler"},
	MethodUnregisterScheduler: {wire: "unregisterScheduler", counted: "unregister_scheduler"},
	MethodCheckScheduler:      {wire: "checkScheduler", counted: "check_scheduler"},
	MethodDelta:               {wire: "flush", counted: "delta"},
	MethodReport:              {wire: "report", counted: "report"},
	MethodStatus:              {wire: "status", counted: "status"},
	MethodSetup:               {wire: "setup", counted: "setup"},
	MethodSwitchPolicy:        {wire: "switchPolicy", counted: "switch_policy"},
	MethodJobs:                {wire: "jobs", counted: "jobs", waits: true},
	MethodJobTasks:            {wire: "jobTasks", counted: "job_tasks"},
	MethodCancelJob:           {wire: "cancelJob", counted: "cancel_job"},
	MethodRetryJob:            {wire: "retryJob", counted: "retry_job"},
	MethodForgetJob:           {wire: "forgetJob", counted: "forget_job"},
	MethodRefuses:             {wire: "refuses", counted: "refuses"},
	MethodOutput:              {wire: "output", counted: "output", waits: true},
	MethodEstimates:           {wire: "estimates", counted: "estimates"},
	MethodClaim:               {wire: "claim", counted: "claim"},
}

// String returns the name under which messages of this kind are counted.
func (m Method) String() string {
	if m < numMethods {
		return methods[m].counted
	}
	return methods[MethodUnknown].counted
}

// byWireName finds a Method by its name in the IDL.
var byWireName = func() map[string]Method {
	m := make(map[string]Method)
	for i := MethodSubmit; i < numMethods; i++ {
		m[methods[i].wire] = i
	}
	return m
}()
