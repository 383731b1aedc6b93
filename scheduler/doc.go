// Package scheduler is one scheduler replica as a pure state machine: it places tasks from a cached
// view of the cluster without asking anybody (paper, Sec. 3), keeps exact cumulative accounts of what
// it placed, and carries every accepted task to one terminal state. It does no I/O and reads no clock;
// schedulerd drives it over Thrift, sim in virtual time.
//
// # What a shell does
//
// Lock, call, unlock, perform: now is the time since the service started and never decreases; a verb
// is called under the shell's lock and returns [Actions], which are valid until the next verb. So the
// shell hands them on before it unlocks, and makes no request before that. The duties:
//
//  1. A client submits: [Replica.Admit] once, then [Replica.Submit] for each task; a refusal is the
//     client's answer. It collects: [Replica.Collect]; it cancels: [Replica.Cancel]. Tasks of a job come by
//     [Replica.SubmitJob]; [Replica.Jobs] and [Replica.JobTasks] tell of it, and what is done to it as a whole
//     comes in parts: [Replica.CancelJob] goes on with the ticks, [Replica.RetryJob] with the next call.
//  2. Actions.Connect: open a [Delivery] to each of these workers. Actions.Drop: end these streams. Actions.Ask:
//     [Delivery.Ask], then [Delivery.Next], as in 3.
//  3. Actions.Send: [Delivery.Post] each, then ask [Delivery.Next] and make that one request. Its answer goes
//     to [Delivery.Attached], [Delivery.Told] or [Delivery.Enqueued], its failure to [Delivery.Failed]; perform the verdict,
//     and ask again. A delivery tells the replica of everything that comes of it.
//  4. Actions.Probe: ask, and give each answer or failure to [Replica.Probed], exactly once.
//  5. Actions.Flush: [Flusher.Post] each, send what [Flusher.Next] returns, and give the answer or its lack
//     to [Flusher.Answered]; when the replica is not known any more, [Registrar.Lost]. [Registrar.Next] says when
//     to register with the data service, which answers with a snapshot, and when to look whether it still knows it.
//  6. A snapshot comes: [Replica.Push]. Its error is the data service's answer; a gap brings a whole one.
//  7. A completion notice comes: [Replica.Completed]. Its error is the worker's answer.
//  8. Actions.Cancel: tell the worker; a failure needs nothing, for the task ends in any case.
//  9. Actions.Wake: wake the collectors, and those who wait for jobs. Actions.Finished: observe these makespans.
//  10. Every [TickEvery] [Replica.Tick]. Every half minute ask the workers of [Replica.Overdue] what
//     they hold, and give the answer to [Replica.Audited].
//  11. With Config.Keeps: make what [Replica.Changes] returns durable, group after group, and say so with [Replica.Synced];
//     then ask [Delivery.Next] of the streams that got placements since. An answer that tells of a change waits until
//     [Replica.Recorded], as it was then, is durable: that of a submission, a cancellation, a completion notice, a
//     collection. The next process begins with [Restore] instead of [New]; it registers and attaches with an incarnation above
//     [LastIncarnation] once its own first changes are durable, and its SchedulerRef resumes. After every Collect,
//     Query and JobTasks read the keys of [Replica.Wanted], if there are any, give [Replica.Fetched] what was found, and ask again
//     before anything else.
//  12. To stop: [Replica.Draining], wait until [Replica.Pending] and [Replica.Uncollected] are 0, and
//     [Replica.Settle], so that the data service hears of the last placements.
package scheduler
