package chaos

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"dodoor/internal/cluster"
)

// What a Record tells of.
const (
	Began     = "scenario"  // the first record: what was to happen
	Submitted = "submitted" // a client asked a scheduler to take a task, and this came of it
	Executed  = "executed"  // a worker ran a task
	Collected = "collected" // a client got a result
	Withdrawn = "withdrawn" // a client asked a scheduler to end a task, and what was answered: two records, the second if there was an answer
	Missed    = "missed"    // a client waits for a result no more, for the Reason
	Left      = "left"      // a scheduler, worker or data service still has something when all is quiet
)

// What came of a submission, or of asking for a task's end.
const (
	Accepted = "accepted"
	Refused  = "refused" // certainly not taken; of an end: nothing is there that could end
	Unknown  = "unknown" // no answer: it may have been taken
)

// Record is one line of a history. Times are since the start of the scenario, on one clock; what is not said of a kind is zero.
type Record struct {
	Kind string        `json:"kind"`
	At   time.Duration `json:"at"` // of Submitted: when it was answered

	Scenario *Scenario     `json:"scenario,omitempty"` // of Began
	Slack    time.Duration `json:"slack,omitempty"`    // of Began: how far times of two processes may be off against each other

	Client    string `json:"client,omitempty"`
	Task      string `json:"task,omitempty"`
	Scheduler string `json:"scheduler,omitempty"` // of Submitted: who was asked; of Collected: who said it; of Left: who has it
	Answer    string `json:"answer,omitempty"`    // of Submitted, and of Withdrawn: Unknown when it is asked

	Worker  string        `json:"worker,omitempty"`
	Process int64         `json:"process,omitempty"` // of Executed: which process of the worker, in any numbering that tells them apart
	Place   int64         `json:"place,omitempty"`   // of Executed: its place in the order in which that process took tasks; 0: not known
	Attempt int           `json:"attempt,omitempty"` // of Executed: 1 is the first; 0: not known
	Start   time.Duration `json:"start,omitempty"`   // of Executed
	End     time.Duration `json:"end,omitempty"`     // of Executed; 0: it never ended before its process did
	Outcome string        `json:"outcome,omitempty"` // of Executed and Collected, as in cluster.Outcome; of an execution without an end: none
	Exit    int           `json:"exit,omitempty"`
	Reason  string        `json:"reason,omitempty"`

	Attempts int           `json:"attempts,omitempty"` // of Collected, as its record has them, like what follows
	Wait     time.Duration `json:"wait,omitempty"`
	Run      time.Duration `json:"run,omitempty"`
	Makespan time.Duration `json:"makespan,omitempty"`

	Of      string        `json:"of,omitempty"`      // of Left: whose account of Worker it is (FaultDatastore or a scheduler); empty: its own
	Pending int           `json:"pending,omitempty"` // of Left: tasks that have not ended
	Load    *cluster.Load `json:"load,omitempty"`    // of Left: what is booked
}

// History is what happened, in any order behind the first record, which is of the kind Began.
type History []Record

// Scenario is what was to happen. A history without it is broken: it is nil then.
func (h History) Scenario() *Scenario {
	if len(h) == 0 {
		return nil
	}
	return h[0].Scenario
}

// Slack is how far two times of the history may be off against each other.
func (h History) Slack() time.Duration { return h[0].Slack }

// Write writes a history as JSON, a record on each line.
func (h History) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	for i := range h {
		if err := lines.Encode(&h[i]); err != nil {
			return fmt.Errorf("record %d of the history: %w", i+1, err)
		}
	}
	return out.Flush()
}

// Read reads what Write wrote.
func Read(r io.Reader) (History, error) {
	var h History
	lines := json.NewDecoder(bufio.NewReader(r))
	for {
		var record Record
		switch err := lines.Decode(&record); {
		case err == io.EOF && h.Scenario() == nil:
			return nil, fmt.Errorf("the history does not begin with its scenario")
		case err == io.EOF:
			return h, nil
		case err != nil:
			return nil, fmt.Errorf("record %d of the history: %w", len(h)+1, err)
		}
		h = append(h, record)
	}
}

// About is what a history has of one task.
func (h History) About(task string) History {
	var about History
	for i := range h {
		if h[i].Task == task {
			about = append(about, h[i])
		}
	}
	return about
}
