package job

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"dodoor/internal/cluster"
	"dodoor/internal/placeholder"
)

// Figures is what a task is said to need; nil is left to whoever places it.
type Figures struct {
	Demand   *cluster.Resources
	Duration *int64 // estimate, milliseconds

	LearnCores, LearnMemory bool // whoever places it decides from experience
}

// Task is one task of a plan.
type Task struct {
	Index    int64
	Entries  []string
	Template *cluster.Template // shared, never written
	Digest   string
	Figures
}

// Plan is the tasks of a job in order. They are made when they are asked for: a million of them take no room.
type Plan interface {
	Len() int64
	At(i int64) Task // from 0 on; any number of goroutines may ask
	Size() int       // the most bytes that a task takes on its way, but for a template that many share
}

// command is the plan of one command with inputs or an array.
type command struct {
	template *cluster.Template
	digest   string
	inputs   Inputs
	array    *Array
	figures  Figures
}

// NewPlan returns the tasks of one command: one per combination of inputs, per number of array if it is not nil, or one
// alone. Inputs that no argument has a place for go to the end of the command. The template becomes the plan's.
func NewPlan(t *cluster.Template, inputs Inputs, array *Array, figures Figures) (Plan, error) {
	lists := inputs.Lists()
	switch {
	case array != nil && lists > 0:
		return nil, errors.New("an array and a list of inputs: a job has one or the other")
	case array != nil:
		lists = 1
	case lists > 0 && !placeholder.Any(t.Argv):
		t.Argv = append(append([]string{}, t.Argv...), "{}")
	}
	if err := t.Check(); err != nil {
		return nil, err
	}
	if err := checkPlaces(t.Argv, lists); err != nil {
		return nil, err
	}
	return &command{template: t, digest: t.Digest(), inputs: inputs, array: array, figures: figures}, nil
}

// checkPlaces refuses arguments with a place for an entry of a list that does not exist.
func checkPlaces(argv []string, lists int) error {
	switch highest := placeholder.Highest(argv); {
	case lists == 0 && placeholder.Entries(argv):
		return errors.New("an argument has a place for an entry, as {} is, and there is no list of entries: add ::: ENTRY..., " +
			":::: FILE..., -each-line FILE or -array A-B")
	case highest > lists:
		return fmt.Errorf("an argument has {%d}, and there are %d lists of entries", highest, lists)
	}
	return nil
}

func (c *command) Len() int64 {
	if c.array != nil {
		return c.array.count
	}
	return c.inputs.count()
}

func (c *command) At(i int64) Task {
	t := Task{Index: i + 1, Template: c.template, Digest: c.digest, Figures: c.figures}
	if c.array != nil {
		t.Index = c.array.at(i)
		t.Entries = []string{strconv.FormatInt(t.Index, 10)}
	} else {
		t.Entries = c.inputs.at(i)
	}
	return t
}

// Size adds the longest entries of all lists.
func (c *command) Size() int {
	size := frame
	for _, l := range c.inputs.lists {
		longest := 0
		for _, e := range l.entries {
			longest = max(longest, len(e))
		}
		size += longest
	}
	return size
}

// frame is about what a task takes beside its entries.
const frame = 256

// Milliseconds makes an estimate of a duration that a person gave; 0 is none.
func Milliseconds(d time.Duration) (*int64, error) {
	ms := d.Milliseconds()
	switch {
	case d == 0:
		return nil, nil
	case ms < 1 || ms > cluster.MaxDuration || d%time.Millisecond != 0:
		return nil, fmt.Errorf("%v: allowed are whole milliseconds from 1ms to a year (8760h)", d)
	}
	return &ms, nil
}

// Argv is what a task's program is given: its own entries in the place of {} and its like.
func Argv(t Task) []string { return placeholder.Expand(t.Template.Argv, t.Index, t.Entries) }
