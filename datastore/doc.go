// Package datastore is the data service as a pure state machine: it merges schedulers' deltas and
// workers' reports into exact aggregates, counts scheduling decisions, and says when a batch is full so
// that snapshots are pushed (paper, Sec. 4.1). It does no I/O and reads no clock; datastored drives it
// over Thrift, sim in virtual time.
//
// # What a shell does
//
// Lock, call, unlock, perform: now is the time since the service started and never decreases; a verb
// is called under the shell's lock and returns [Actions], which are valid until the next verb. So the
// shell hands them on before it unlocks, and makes no request before that. The duties:
//
//  1. A worker comes, reports and goes: [Store.RegisterNode], [Store.Report], [Store.UnregisterNode]. A
//     scheduler: [Store.RegisterScheduler], whose snapshot is the answer, [Store.CheckScheduler],
//     [Store.UnregisterScheduler]. Their errors are the callers' answers.
//  2. A delta comes: [Store.Flush].
//  3. Actions.Push: for each, [Store.Fill] a snapshot under the lock, as late as possible, and send it. What
//     comes back goes to [Store.Answered] or [Store.Failed], exactly once, and the actions of these may hold
//     the next push. Where Fill is false there is nothing to send: the scheduler has left.
//  4. Actions.Failing and Actions.Gone: log them. Who is gone is unregistered already; hang up.
//  5. Every [TickEvery] [Store.Tick]: silent workers leave, stale views are pushed.
//  6. Somebody asks whether the cluster has settled: [Store.Settle], then [Store.Settled] until it is true.
package datastore
