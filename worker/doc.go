// Package worker is one node as a state machine: the first-come first-served queue with head-of-line
// blocking in front of a multidimensional capacity (Sec. 4.2), the exact account of what the node
// holds and received, and the completions that schedulers have yet to acknowledge. It does no I/O and
// reads no clock; workerd drives it over Thrift, sim in virtual time.
//
// # What a shell does
//
// Lock, call, unlock, perform: now is the time since the service started and never decreases; a verb
// is called under the shell's lock and returns [Actions], which are valid until the next verb. So the
// shell hands them on before it unlocks, and makes no request before that. The duties:
//
//  1. A scheduler opens its stream: [Node.Attach]. It sends placements, in order: [Node.Enqueue]; the
//     reply and the error are its answer. After a restart it asks what became of its placements: [Node.Claim].
//     It probes: [Node.Probe]; it cancels: [Node.Cancel].
//  2. Actions.Start: run each; its end, however it ends, goes to [Node.Finished], exactly once.
//  3. Actions.Kill: end these executions; each still comes to Finished.
//  4. Actions.Notify: [Notifier.Post] of each scheduler's notifier, and then [Notifier.Next], which fills the
//     notice to send. What comes back goes to [Notifier.Answered] or [Notifier.Failed], and Next says what
//     follows: a notice is repeated until the scheduler has taken it.
//  5. Actions.Report: [Reporter.Post]. [Reporter.Next] says when to register with the data service and when to
//     report ([Node.Report]); reports of one process arrive in any order, their sequence numbers tell.
//  6. Every second or so [Node.Expire], so that nobody who stays away costs memory for ever.
//  7. After every verb [Node.Due] may name an earlier moment than before: then [Node.Overran], and perform what it returns.
//  8. To stop: [Node.Drain], wait, then [Node.AbandonQueued] or [Node.Abandon] what is left, perform the
//     actions, and notify until every notifier is [Notifier.Idle].
package worker
