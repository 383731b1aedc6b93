package chaos

import (
	"time"

	"dodoor/sim"
)

// Shape is what is not drawn: how large scenarios are, and what can be carried out where they run.
type Shape struct {
	Tasks   int           `json:"tasks"`          // submitted
	Span    time.Duration `json:"span"`           // in which they are submitted and faults happen
	Quiet   time.Duration `json:"quiet"`          // that of its scenarios
	Faults  int           `json:"faults"`         // at most so many
	Hows    []string      `json:"hows,omitempty"` // faults of other ways are left out; empty: none is
	Journal bool          `json:"journal"`        // schedulers keep what they accepted
}

// Small is the usual shape.
func Small() Shape {
	return Shape{Tasks: 200, Span: 20 * time.Second, Quiet: 2 * time.Minute, Faults: 6, Journal: true}
}

// Brief is the shape for real processes, on which a seed takes some ten seconds. Every third has schedulers without a journal.
func Brief(seed uint64) Shape {
	return Shape{Tasks: 80, Span: 7 * time.Second, Quiet: 30 * time.Second, Faults: 4, Journal: seed%3 != 0}
}

// Scenario is one cluster, what is submitted to it, and what goes wrong. All times are since its start.
type Scenario struct {
	Seed       uint64        `json:"seed"`
	Shape      Shape         `json:"shape"`
	Policy     string        `json:"policy"`
	Schedulers int           `json:"schedulers"` // called scheduler-1, scheduler-2 ...
	Workers    []Worker      `json:"workers"`
	Clients    []Client      `json:"clients"`
	Tasks      []Task        `json:"tasks"`  // in the order of their times
	Faults     []sim.Fault   `json:"faults"` // each is over before Span is
	Quiet      time.Duration `json:"quiet"`  // after the last fault and submission everything must have ended within this
}

// Worker is a machine.
type Worker struct {
	Name   string `json:"name"` // CLASS-1, CLASS-2 ...
	Class  string `json:"class"`
	Slots  int    `json:"slots"`
	Cores  int64  `json:"cores"`  // thousandths
	Memory int64  `json:"memory"` // MiB
}

// Client is somebody who submits and collects.
type Client struct {
	Name      string `json:"name"`
	Resubmits bool   `json:"resubmits"` // to another scheduler, what one that is gone had accepted
}

// Task is submitted once by its client; what is asked again because nobody answered is the same task.
type Task struct {
	ID         string        `json:"id"`
	Client     string        `json:"client"`
	At         time.Duration `json:"at"`
	Takes      time.Duration `json:"takes"` // whole milliseconds
	Cores      int64         `json:"cores"`
	Memory     int64         `json:"memory"`
	AtMostOnce bool          `json:"at_most_once,omitempty"`
	Exit       int           `json:"exit,omitempty"`      // code with which it ends
	Withdrawn  time.Duration `json:"withdrawn,omitempty"` // when its client asks every scheduler to end it, once; 0: never
}
