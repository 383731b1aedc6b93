package cluster

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"time"
)

// Bounds of what somebody may submit to be run.
const (
	MaxEntry    = 64 << 10  // bytes of one entry
	MaxStdin    = 1 << 20   // bytes of standard input
	MaxProgram  = 512 << 10 // bytes of arguments, environment and script together
	MaxTemplate = MaxStdin + MaxProgram
	MaxName     = 256     // bytes of a name, or an id
	MaxAgain    = 1 << 16 // retries of a task, or machines that it may lose
)

// Template is what the tasks of a job share: the program, and what it finds when it starts. It is never changed, so that
// all who use it hold the same one.
type Template struct {
	Argv      []string // {} and its like stand for a task's own entry; of a script, its arguments
	Env       []string // NAME=VALUE, beyond the least
	Script    []byte   // run by the interpreter of its first line
	Image     string   // of the container that it runs in; empty: a process
	Workdir   string   // empty: a folder of the task's own
	Stdin     []byte
	TimeLimit time.Duration // 0: none
}

// Digest names a template: two of the same digest are the same.
func (t *Template) Digest() string {
	h := sha256.New()
	hashList(h, t.Argv)
	hashList(h, t.Env)
	for _, part := range [...]string{string(t.Script), t.Image, t.Workdir, string(t.Stdin)} {
		hashPart(h, part)
	}
	_ = binary.Write(h, binary.BigEndian, t.TimeLimit.Milliseconds())
	return hex.EncodeToString(h.Sum(nil))
}

func hashList(h hash.Hash, list []string) {
	_ = binary.Write(h, binary.BigEndian, int64(len(list)))
	for _, part := range list {
		hashPart(h, part)
	}
}

// hashPart adds the length as well, so that no two lists look the same.
func hashPart(h hash.Hash, part string) {
	_ = binary.Write(h, binary.BigEndian, int64(len(part)))
	h.Write([]byte(part)) // a hash never fails
}

// Size is about how many bytes t takes, on the wire and in memory.
func (t *Template) Size() int {
	n := len(t.Script) + len(t.Image) + len(t.Workdir) + len(t.Stdin)
	for _, list := range [...][]string{t.Argv, t.Env} {
		for _, part := range list {
			n += len(part) + 16
		}
	}
	return n
}

// Check says what is wrong with t, if anything.
func (t *Template) Check() error {
	switch program := t.Size() - len(t.Stdin); {
	case len(t.Argv) == 0 && len(t.Script) == 0:
		return fmt.Errorf("there is no command")
	case len(t.Argv) > 0 && len(t.Script) == 0 && t.Argv[0] == "":
		return fmt.Errorf("the name of the program is empty")
	case len(t.Stdin) > MaxStdin:
		return fmt.Errorf("standard input has %d bytes: at most %d are allowed", len(t.Stdin), MaxStdin)
	case program > MaxProgram:
		return fmt.Errorf("arguments, environment and script have %d bytes: at most %d are allowed", program, MaxProgram)
	case t.TimeLimit < 0 || t.TimeLimit > LongestDuration || t.TimeLimit%time.Millisecond != 0:
		return fmt.Errorf("a time limit of %v: whole milliseconds up to a year are allowed", t.TimeLimit)
	}
	return nil
}

// Command is a task's own program: a template, and what {} stands for.
type Command struct {
	Digest   string
	Template *Template // nil: whoever reads this knows it by its digest
	Job      string    // empty: none
	Index    int64     // in the job
	Entries  []string  // one per list of inputs
}

// Name is the digest of the command's template, said or not.
func (c *Command) Name() string {
	if c.Digest == "" && c.Template != nil {
		return c.Template.Digest()
	}
	return c.Digest
}

// Job is a name that tasks share, and what holds for all of them. No service owns it.
type Job struct {
	ID, Name   string
	Text       string        // the command line, for people
	Tasks      int64         // that its submitter means to submit, to all schedulers
	Submitted  time.Duration // since the Unix epoch
	Retries    int           // of a task that ended otherwise than with exit code 0
	CrashLimit int           // machines that a task may lose; 0: the scheduler's own limit
	MaxFails   int64         // failed tasks at one scheduler after which it cancels the rest; 0: none
	User       string        // submitted it: whom the scheduler was called by; empty: nobody in particular
}

// JobStatus is a scheduler's share of a job.
type JobStatus struct {
	Job
	Scheduler string
	Accepted  int64
	Outcomes  [Lost + 1]int64
	Retried   int64         // executions beyond the first of a task; one on a machine that was lost counts, though it may not have started
	Ended     time.Duration // the last end, since the Unix epoch; 0: none yet
}

// Open is how many tasks have not ended.
func (s *JobStatus) Open() int64 {
	open := s.Accepted
	for _, n := range s.Outcomes {
		open -= n
	}
	return open
}

// JobQuery asks for a scheduler's share of one job (ID set), once it has no open task there or Wait is over, or of up to
// Max jobs, newest first.
type JobQuery struct {
	ID   string
	Max  int
	Wait time.Duration
	For  Asker // never said by a message
}

// JobTask is a task of a job in short.
type JobTask struct {
	Index    int64
	ID       string
	Outcome  Outcome // NoOutcome: it has not ended
	ExitCode int
	Worker   string // where it is, or was last
	Attempts int
	Run      time.Duration
	Printed  int64    // bytes
	Reason   string   // as long as the record is kept
	Entries  []string // unless it finished
}

// JobTaskQuery asks for up to Max tasks of a job whose index is From or higher, in order.
type JobTaskQuery struct {
	Job          string
	From         int64
	Max          int
	Unsuccessful bool  // those alone that ended otherwise than well
	For          Asker // never said by a message
}

// OutputRequest asks for part of what a task printed.
type OutputRequest struct {
	TaskID  string
	Attempt int  // 1 is the first; 0: the newest
	Errors  bool // standard error instead of standard output
	Offset  int64
	Max     int           // bytes
	Wait    time.Duration // for more, while the task runs
	For     Asker         // never said by a message
}

// OutputChunk is part of what a task printed.
type OutputChunk struct {
	Data    []byte
	Printed int64 // bytes so far, whether they were kept or not
	Kept    int64 // bytes that can be read
	Ended   bool
	Attempt int
	Loss    string // why not everything was kept, if so
}

// CommandType is the type of every task that brings its own program.
const CommandType = "command"
