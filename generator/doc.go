// Package generator is the pure half of the request generator: it reads, makes and describes
// traces, paces arrivals, and defines the rows that a run leaves behind. It does no I/O of its own,
// reads no clock and starts no goroutine; drive replays over Thrift, sim in virtual time.
//
// # What a shell does
//
//  1. Make the requests: [ReadTrace], [Azure] or [FunctionBench]; make the workload with [NewWorkload]:
//     which tasks, when, under which ids.
//  2. Start the run's clock, and tell a [Client] of every task: [Client.Expect], [Client.Start], and
//     [Client.Submit] when it is due, no earlier than [Workload.Due] says. A late submission is late, and is
//     not left out. Each of its verbs is called under the shell's lock and returns [Actions].
//  3. Actions.Send: post each message; its answer goes to [Client.Accepted], its failure to [Client.Failed].
//  4. Actions.Poll: collect, each at its time; the answer goes to [Client.Collected], or to [Client.PollFailed].
//  5. Actions.Ended: make a row of each with [Ending.Row]; every task ends exactly once, also one that never
//     ran. Actions.News: log it. Actions.Wake: call [Client.Tick] by then.
//  6. Where schedulers come and go: tell [Client.Members] again and again who is registered. Actions.Join: connect,
//     before anything is sent there. Actions.Drop: acknowledge what was read ([Client.Acknowledge]) and hang up.
//  7. To stop: [Client.Stop], which waits for results; [Client.Abandon] gives up what is missing.
//  8. Write the rows with [NewRowWriter] and the nodes' samples with [NewNodeWriter]; run.json, a [RunInfo],
//     says with which settings.
package generator
