// The wire contract between Dodoor's services.
//
// Rules of this file
//  * Every amount is an integer in a small unit (millicores, MiB, thousandths of an extra
//    resource, milliseconds, microseconds), so that what is added and removed cancels exactly.
//  * No defaults: they vanish in Go struct literals. internal/rpc validates every field on arrival.
//  * Fields are never renumbered or reused; new fields are optional.
//  * No name ends in Result or Args or starts with New: the Go generator mangles them.

namespace go dodoor

// ---------------------------------------------------------------- errors

enum ErrorCode {
  INVALID = 1,        // a field is missing, negative, too large or contradicts another
  DRAINING = 2,       // the service is shutting down or drained; try another one
  OVERLOADED = 3,     // a bound on waiting work is reached; try later or elsewhere
  UNKNOWN_NODE = 4,   // not registered here (any more): register, then repeat
  UNKNOWN_SCHEDULER = 5,
  UNKNOWN_TASK = 6,
  DUPLICATE_NODE = 7, // another live process holds this name
  DUPLICATE_SCHEDULER = 8,
  STALE = 9,          // an older incarnation speaks
  GAP = 10,           // a snapshot builds on one that this scheduler does not have: send a whole one
  NOT_ALLOWED = 11,   // this caller may not ask for it: asking again is in vain
}

exception ServiceError {
  1: ErrorCode code,
  2: string message,
  3: optional i64 retry_after_ms,     // OVERLOADED, DRAINING: not before
}

enum RefusalCode {
  NO_FEASIBLE_NODE = 1, // names the dimension and the largest capacity
  UNKNOWN_TYPE = 2,
  UNKNOWN_MODE = 3,
  DUPLICATE_TASK = 4,
  INVALID_TASK = 5,
  NEVER_FITS = 6,       // worker: the demand exceeds this node's capacity
  NODE_DRAINING = 7,
  UNSUPPORTED = 8,      // worker: executor cannot run it (for example a time scale with stress-ng)
  NOT_HELD = 9,         // worker: a repeated placement that it no longer knows
  QUEUE_FULL = 10,      // worker: too many tasks wait; try again later or elsewhere
  UNKNOWN_TEMPLATE = 11, // the digest says nothing here (any more): send the template along
  NOT_ALLOWED = 12,     // worker: its configuration does not allow this command
}

// ---------------------------------------------------------------- vocabulary

struct Amounts {
  1: optional i64 millicores,
  2: optional i64 memory_mib,
  3: optional i64 disk_mib,
  4: optional map<string, i64> extra, // thousandths, by name
}

// L, N, D and W (paper, Sec. 3.1; W is ours): the sums over uncompleted tasks.
struct Load {
  1: optional Amounts demand,
  2: optional i64 tasks,
  3: optional i64 duration_ms,
  4: optional i64 work,               // sum of millicores x milliseconds
}

enum Outcome {
  FINISHED = 1,
  FAILED = 2,
  TIMED_OUT = 3,
  CANCELLED = 4,
  LOST = 5,
}

struct Node {
  1: optional string name,
  2: optional string address,         // host:port of its worker service
  3: optional string node_class,
  4: optional Amounts capacity,
  5: optional i32 slots,
  6: optional i64 incarnation,        // larger after every restart
  7: optional bool draining,
}

struct SchedulerRef {
  1: optional string name,
  2: optional string address,
  3: optional i64 incarnation,
  4: optional bool riders,            // wants a report on every acknowledgement and completion notice
  5: optional bool resumes,           // takes up again what an earlier process of its name had placed
}

// ---------------------------------------------------------------- commands and jobs

// What the tasks of a job share. {} and its like in argv stand for a task's own entry.
struct Template {
  1: optional list<string> argv,      // the program and its arguments; of a script, its arguments
  2: optional list<string> env,       // NAME=VALUE, beyond the least
  3: optional binary script,          // run by the interpreter of its first line
  4: optional string image,           // of the container that it runs in
  5: optional string workdir,         // absent: a folder of the task's own
  6: optional binary stdin,
  7: optional i64 time_limit_ms,      // absent: none
}

// A task's own program. The template, or the digest of one that came before.
struct Command {
  1: optional string digest,          // SHA-256 of the template, in hexadecimal
  2: optional Template template,
  3: optional string job,
  4: optional i64 index,              // in the job
  5: optional list<string> entries,   // what {} stands for; one per list
}

// A job is a name that tasks share; no service owns it.
struct Job {
  1: optional string id,
  2: optional string name,
  3: optional string text,            // the command line, for people
  4: optional i64 tasks,              // that its submitter means to submit, to all schedulers
  5: optional i64 submitted_unix_us,
  6: optional i32 retries,            // of a task that ended otherwise than with exit code 0
  7: optional i32 crash_limit,        // machines that a task may lose; absent: the scheduler's max_attempts
  8: optional i64 max_fails,          // failed tasks at one scheduler after which it cancels the rest; absent: none
}

// A scheduler's share of a job.
struct JobStatus {
  1: optional Job job,
  2: optional string scheduler,
  3: optional i64 accepted,
  4: optional i64 finished,
  5: optional i64 failed,
  6: optional i64 timed_out,
  7: optional i64 cancelled,
  8: optional i64 lost,
  9: optional i64 retried,            // executions beyond the first of a task
 10: optional i64 ended_unix_us,      // the last end
}

struct JobQuery {
  1: optional string id,              // absent: all that the scheduler knows, newest first, up to max
  2: optional i32 max,
  3: optional i32 wait_ms,            // of one job: until it has no open task here, so long at most
}

struct JobTask {
  1: optional i64 index,
  2: optional string id,
  3: optional Outcome outcome,        // absent: it has not ended
  4: optional i32 exit_code,
  5: optional string worker,          // where it is, or was last
  6: optional i32 attempts,
  7: optional i64 run_us,
  8: optional i64 printed_bytes,
  9: optional string reason,          // as long as the scheduler keeps the record
 10: optional list<string> entries,   // unless it finished
}

struct JobTaskQuery {
  1: optional string job,
  2: optional i64 from_index,         // this and higher ones, in order
  3: optional i32 max,
  4: optional bool unsuccessful,      // those alone that ended otherwise than well
}

// Part of what a task printed, from the worker that ran it.
struct OutputRequest {
  1: optional string task_id,
  2: optional i32 attempt,            // 1 is the first; absent: the newest
  3: optional bool errors,            // standard error; absent: standard output
  4: optional i64 offset,
  5: optional i32 max,                // bytes
  6: optional i32 wait_ms,            // for more, while the task runs
}

struct OutputChunk {
  1: optional binary data,
  2: optional i64 printed,            // bytes so far, whether they were kept or not
  3: optional i64 kept,               // bytes that can be read
  4: optional bool ended,
  5: optional i32 attempt,
  6: optional string loss,            // why not everything was kept, if so
}

// ---------------------------------------------------------------- submission and results

struct TaskSpec {
  1: optional string id,
  2: optional string task_type,
  3: optional string mode,
  4: optional Amounts demand,         // absent: the type's profile decides
  5: optional i64 duration_ms,        // estimate; absent: the type's profile decides
  6: optional bool at_most_once,      // true: never run again after a failure of a machine
  7: optional double time_scale,      // emulation: this many trace seconds pass in one
  8: optional Command command,        // runs instead of what a task type says
  9: optional bool learn_cores,       // experience decides how many it needs
 10: optional bool learn_memory,
}

struct SubmitRequest {
  1: optional string client,          // results are collected under this name; absent, of a job: nobody does
  2: optional list<TaskSpec> tasks,
  3: optional Job job,                // of all these tasks
  4: optional i64 incarnation,        // of the memory that may take them: another one answers STALE; absent: any may
}

struct Refusal {
  1: optional string task_id,
  2: optional RefusalCode code,
  3: optional string message,
  4: optional i64 number,             // enqueue: the refused placement's number
}

// Tasks that are not named in `refused` are accepted and will reach one terminal state.
struct SubmitReply {
  1: optional list<Refusal> refused,
}

struct TaskRecord {
  1: optional string id,
  2: optional string task_type,
  3: optional string mode,
  4: optional string scheduler,
  5: optional string worker,
  6: optional string node_class,
  7: optional Amounts demand,
  8: optional i64 estimate_ms,
  9: optional i64 received_unix_us,
 10: optional i64 scheduling_us,      // received -> worker acknowledged
 11: optional i64 wait_us,            // enqueued -> started, on the worker's clock
 12: optional i64 run_us,             // started -> finished, on the worker's clock
 13: optional i64 makespan_us,        // received -> completion known
 14: optional i32 attempts,
 15: optional Outcome outcome,
 16: optional i32 exit_code,
 17: optional string reason,
 18: optional i64 cpu_ms,
 19: optional i64 peak_memory_mib,
 20: optional i64 view_decisions,     // decisions that the deciding view included
 21: optional i64 startup_us,         // part of run_us
 22: optional bool out_of_memory,
 23: optional string output,          // the end of what the task printed
 24: optional i64 printed_bytes,
}

struct CollectRequest {
  1: optional string client,
  2: optional i64 after,              // cursor: everything up to it is acknowledged and may be dropped
  3: optional i32 max,
  4: optional i32 wait_ms,            // long poll
  5: optional i64 incarnation,        // of the process that gave the cursor; 0: not known
}

struct CollectReply {
  1: optional i64 cursor,             // pass as `after` next time
  2: optional list<TaskRecord> records,
  3: optional i64 incarnation,        // of the scheduler's memory: a change means that it forgot
  4: optional bool keeps,             // what it has accepted survives the process
}

enum Phase {
  PLACING = 1,
  SENT = 2,
  ACCEPTED = 3,
  QUEUED = 4,
  RUNNING = 5,
  ENDED = 6,
}

struct TaskStatus {
  1: optional string id,
  2: optional Phase phase,
  3: optional string node,
  4: optional TaskRecord record,      // when ENDED
  5: optional string task_type,
  6: optional string mode,
  7: optional string scheduler,
  8: optional string job,             // absent: none
  9: optional i64 index,              // in the job
 10: optional i64 ahead,              // of a worker, QUEUED: tasks before it in the line
 11: optional i32 attempt,            // 1 is the first
}

struct TaskQuery {
  1: optional string id,              // absent: all that the service holds, up to max
  2: optional i32 max,
  3: optional string after,           // the page behind this id, or less than that; absent: the first. An empty page is the end
  4: optional string job,             // its tasks alone; absent: of all jobs and of none
  5: optional bool ended,             // of a scheduler: what has ended alone, the newest first
  6: optional list<string> ids,       // these alone, as far as they are there; with it there are no pages
  7: optional list<string> answering, // of a worker: not what one of these schedulers, of this process, waits for
}

// ---------------------------------------------------------------- placement

struct Assignment {
  1: optional i64 number,             // of this scheduler's stream to this worker: 1, 2, 3 ...
  2: optional string task_id,
  3: optional string task_type,
  4: optional string mode,
  5: optional Amounts demand,
  6: optional i64 duration_ms,
  7: optional double time_scale,
  8: optional Command command,
  9: optional i32 attempt,            // 1 is the first
 10: optional i64 takes_ms,           // what an emulated execution takes, where that is not the estimate
 11: optional bool guessed,           // nobody said how long it runs: its estimate ends nothing
 12: optional bool at_most_once,      // an execution of it that has started is not followed by another
}

struct AttachReply {
  1: optional i64 incarnation,        // of the worker
  2: optional i64 number,             // last number received from this scheduler incarnation
  3: optional Report report,
}

struct EnqueueRequest {
  1: optional SchedulerRef scheduler,
  2: optional i64 node_incarnation,
  3: optional i64 number,             // last number that this message accounts for
  4: optional Load placed,            // cumulative, at `number`
  5: optional list<Assignment> assignments,
}

struct EnqueueReply {
  1: optional list<Refusal> refused,
  2: optional Report report,          // rider; always present when something was refused
}

// A placement by an earlier process of a scheduler, which it remembers.
struct Claim {
  1: optional string task_id,
  2: optional i64 number,
}

struct ClaimRequest {
  1: optional SchedulerRef scheduler,
  2: optional i64 node_incarnation,
  3: optional list<Claim> claims,
}

enum Holding {
  HELD = 1,           // it waits, runs, or has ended and the notice is on its way
  NEVER = 2,          // the placement did not arrive, and will not any more
  GONE = 3,           // it arrived, and the worker no longer knows how it ended
}

struct ProbeRequest {
  1: optional string task_id,
  2: optional Amounts demand,
}

struct ProbeReply {
  1: optional i64 tasks,              // N, queued included
  2: optional i64 latency_us,         // median of recent task latencies at or near this N; absent: none yet
  3: optional i64 pending_ms,         // D
  4: optional Report report,
}

struct Completion {
  1: optional string task_id,
  2: optional i64 number,
  3: optional Outcome outcome,
  4: optional i32 exit_code,
  5: optional string reason,
  6: optional i64 wait_us,
  7: optional i64 run_us,
  8: optional i64 cpu_ms,
  9: optional i64 peak_memory_mib,
 10: optional i64 startup_us,
 11: optional bool out_of_memory,
 12: optional string output,
 13: optional i64 printed_bytes,
}

struct CompletionNotice {
  1: optional string node,
  2: optional i64 node_incarnation,
  3: optional i64 scheduler_incarnation,
  4: optional list<Completion> completions,
  5: optional Report report,          // rider
}

// ---------------------------------------------------------------- estimates

enum EstimateRule {
  LEARNED = 1,        // what was seen there
  PROFILE = 2,        // the profile's figure
  BORROWED = 3,       // what was seen on another class
  DEFAULT = 4,        // what nobody knows takes
}

// How long tasks of one name are expected to run on one class of nodes, and why.
struct Estimate {
  1: optional string name,
  2: optional string node_class,
  3: optional i64 duration_ms,        // that is in force
  4: optional EstimateRule rule,
  5: optional i64 count,              // executions seen, by all schedulers
  6: optional i64 median_ms,          // of the newest
  7: optional i64 p95_ms,
  8: optional i64 off_permille,       // how far off lately
  9: optional i64 millicores,         // of the name, on any class; absent: not known
 10: optional i64 memory_mib,
}

struct EstimateQuery {
  1: optional string name,            // part of a name; absent: all
  2: optional i32 max,
}

// ---------------------------------------------------------------- aggregation

struct Placed {
  1: optional string node,
  2: optional i64 node_incarnation,
  3: optional i64 number,
  4: optional Load placed,            // cumulative vector P at `number`
}

// What one scheduler has seen of the executions of one name on one class of nodes. The newer number replaces.
struct Experience {
  1: optional string scheduler,       // absent: the delta's
  2: optional i64 incarnation,        // likewise
  3: optional string name,
  4: optional string node_class,
  5: optional i64 number,             // 1, 2, 3 ...
  6: optional i64 count,              // executions seen so far
  7: optional list<i64> runs_ms,      // of the newest ones, the newest first
  8: optional list<i64> stamps,       // per run: the decisions known then; from the second on, how many fewer than before
  9: optional i64 off_permille,       // how far off the estimates were lately
 10: optional i64 millicores,         // that the name needs, on any class; absent: not measured
 11: optional i64 memory_mib,         // likewise
 12: optional i32 steady_log,         // mean of ln(run time in ms) since run times last changed, in thousandths; absent: 0
 13: optional i32 steady_runs,        // the runs that this is the mean of; absent: 0
}

struct Delta {
  1: optional string scheduler,
  2: optional i64 incarnation,
  3: optional i64 decisions,          // cumulative
  4: optional list<Placed> placed,    // the workers touched since the last flush that was acknowledged
  5: optional list<Experience> experience, // some of what has changed since
}

struct FlushReply {
  1: optional i64 incarnation,        // of the data service: a change asks for a whole flush
}

struct Received {
  1: optional string scheduler,
  2: optional i64 incarnation,
  3: optional i64 number,
  4: optional Load received,          // cumulative vector R at `number`
}

struct Report {
  1: optional string node,
  2: optional i64 incarnation,
  3: optional i64 sequence,
  4: optional Load load,
  5: optional Amounts running_demand,
  6: optional i32 running,
  7: optional i32 queued,
  8: optional bool draining,
  9: optional list<Received> received,
 10: optional i64 blocked_ms,         // cumulative head-of-line blocking
}

struct Roster {
  1: optional i64 version,
  2: optional list<Node> nodes,
  3: optional list<string> schedulers, // registered replicas
  4: optional list<i32> home,          // per node: the position in `schedulers` of its home, -1: none
}

// A struct of arrays against the roster: row j describes roster node `node[j]`.
struct Snapshot {
  1: optional i64 incarnation,        // of the data service
  2: optional i64 version,
  3: optional i64 base_version,       // 0: whole
  4: optional i64 roster_version,
  5: optional Roster roster,          // when the receiver does not have this version yet
  6: optional i64 decisions,          // cluster-wide decisions included
  7: optional i64 receiver_incarnation,
  8: optional list<i32> node,
  9: optional list<i64> millicores,
 10: optional list<i64> memory_mib,
 11: optional list<i64> disk_mib,
 12: optional map<string, list<i64>> extra,
 13: optional list<i64> tasks,
 14: optional list<i64> duration_ms,
 15: optional list<i64> work,
 16: optional list<i64> report_sequence,
 17: optional list<i64> own_number,   // the receiver's last placement number that the row includes
 18: optional list<Experience> experience, // of other schedulers, some of what is new
}

struct NodeStatus {
  1: optional Node node,
  2: optional Load load,              // aggregate
  3: optional Report report,          // newest
  4: optional i64 heard_ms_ago,
}

struct ClusterStatus {
  1: optional i64 version,
  2: optional i64 decisions,
  3: optional list<NodeStatus> nodes,
  4: optional list<SchedulerRef> schedulers,
}

// What a service runs, for whoever compares: two of one digest behave the same.
struct Setup {
  1: optional string name,            // as the inventory calls it; absent: it was not started from one, as the digest
  2: optional string version,         // of the program
  3: optional string digest,          // of what of its configuration concerns it
  4: optional i64 incarnation,
  5: optional i64 batch,              // b of the data service, b_delta of a scheduler
  6: optional string policy,          // of a scheduler, as the seed
  7: optional i64 seed,               // 64 bits without a sign
}

// ---------------------------------------------------------------- services

service SchedulerService {
  SubmitReply submit(1: SubmitRequest request) throws (1: ServiceError e),
  CollectReply collect(1: CollectRequest request) throws (1: ServiceError e),
  bool cancel(1: string task_id) throws (1: ServiceError e),
  list<TaskStatus> tasks(1: TaskQuery query) throws (1: ServiceError e),
  void complete(1: CompletionNotice notice) throws (1: ServiceError e),
  void push(1: Snapshot snapshot) throws (1: ServiceError e),
  list<JobStatus> jobs(1: JobQuery query) throws (1: ServiceError e),
  list<JobTask> jobTasks(1: JobTaskQuery query) throws (1: ServiceError e),
  // Cancels what has not ended of a job here, and returns how many tasks that were.
  i64 cancelJob(1: string job) throws (1: ServiceError e),
  // Runs the tasks of a job again that ended otherwise than well, and returns how many they are.
  i64 retryJob(1: string job) throws (1: ServiceError e),
  // Forgets a job that has ended here; refused while it has not.
  bool forgetJob(1: string job) throws (1: ServiceError e),
  // How long this replica expects tasks to run, by name and class in order.
  list<Estimate> estimates(1: EstimateQuery query) throws (1: ServiceError e),
  // What this replica believes about every node: snapshot plus, when it corrects itself, own placements.
  ClusterStatus view() throws (1: ServiceError e),
  // Starts anew under another policy and seed, at the same address; refused while it holds tasks.
  void switchPolicy(1: string policy, 2: i64 seed) throws (1: ServiceError e),
  // Sends the delta now, whatever the batch holds.
  void settle() throws (1: ServiceError e),
  map<string, i64> counters() throws (1: ServiceError e),
  Setup setup() throws (1: ServiceError e),
}

service WorkerService {
  AttachReply attach(1: SchedulerRef scheduler) throws (1: ServiceError e),
  EnqueueReply enqueue(1: EnqueueRequest request) throws (1: ServiceError e),
  // What became of placements by earlier processes of a scheduler, one answer for each.
  list<Holding> claim(1: ClaimRequest request) throws (1: ServiceError e),
  ProbeReply probe(1: ProbeRequest request) throws (1: ServiceError e),
  // Ends what a scheduler placed: its claim alone where others placed the task as well. No scheduler: everybody's, for people.
  bool cancel(1: string task_id, 2: string scheduler) throws (1: ServiceError e),
  // Refuses new placements (true) or takes them again (false); what it holds goes on.
  void drain(1: bool draining) throws (1: ServiceError e),
  list<TaskStatus> tasks(1: TaskQuery query) throws (1: ServiceError e),
  // Why this worker would not run such a command; empty: it would.
  string refuses(1: Template command) throws (1: ServiceError e),
  OutputChunk output(1: OutputRequest request) throws (1: ServiceError e),
  // Removes what the tasks of a job have printed.
  void forgetJob(1: string job) throws (1: ServiceError e),
  Report state() throws (1: ServiceError e),
  map<string, i64> counters() throws (1: ServiceError e),
  Setup setup() throws (1: ServiceError e),
}

service DataService {
  // Returns the data service's incarnation.
  i64 registerNode(1: Node node) throws (1: ServiceError e),
  void unregisterNode(1: string name, 2: i64 incarnation) throws (1: ServiceError e),
  // Returns a whole snapshot for the newcomer.
  Snapshot registerScheduler(1: SchedulerRef scheduler) throws (1: ServiceError e),
  void unregisterScheduler(1: string name, 2: i64 incarnation) throws (1: ServiceError e),
  // Succeeds while this process is the one registered under its name.
  void checkScheduler(1: string name, 2: i64 incarnation) throws (1: ServiceError e),
  FlushReply flush(1: Delta delta) throws (1: ServiceError e),
  void report(1: Report report) throws (1: ServiceError e),
  ClusterStatus status() throws (1: ServiceError e),
  // Pushes to every scheduler now, whatever the batch holds.
  void settle() throws (1: ServiceError e),
  map<string, i64> counters() throws (1: ServiceError e),
  Setup setup() throws (1: ServiceError e),
}
