package scheduler

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// Spec is what the file of a policy registers. A policy is known by its Spec alone: the configuration, the
// checks, the manual and every program follow from it.
type Spec struct {
	Name  string
	Knobs func() Knobs       // what the policy reads, at its defaults; nil: nothing
	New   func(Knobs) Policy // for one replica: policies keep state

	Manual ManualRow
}

// ManualRow is the policy's row in the table of docs/policies.md.
type ManualRow struct {
	Compares string // which nodes
	By       string
	Messages string // control messages per task
}

// Knobs are the settings of one policy, or of several that share them: a pointer to a struct.
type Knobs interface {
	Table() Table
}

// Table describes Knobs as a table of the configuration.
type Table struct {
	Name  string
	About string // for the manual; may be empty
	Knobs []Knob
}

// Knob describes one setting.
type Knob struct {
	Key   string
	Value any // its address: *float64, *int, *bool, *string or, in trace time, *time.Duration
	Range Range
	Unit  string // of a number; may be empty
	Means string // one sentence or a few, for the manual
}

// Range is what a knob may be. A duration needs none: it lasts between a millisecond and a year.
type Range struct {
	Low, High float64  // of a number
	Above     bool     // Low itself is not allowed
	Limit     string   // the key that High follows, where it follows one
	Zero      string   // 0 is allowed besides: what it means
	Words     []string // of a string
	Why       string   // what would be wrong outside
}

// Problem says what a knob must be and what it is; empty when it is within its range.
func (k *Knob) Problem() string {
	return k.Range.Problem(reflect.ValueOf(k.Value).Elem().Interface())
}

// Problem says what a value must be and what it is; empty when it is in the range.
func (r *Range) Problem(value any) string {
	allowed, ok := r.holds(value)
	if ok {
		return ""
	}
	found := fmt.Sprintf("must be %s, found %v", allowed, value)
	if word, isWord := value.(string); isWord {
		found = fmt.Sprintf("must be %s, found %q", allowed, word)
	}
	if r.Why != "" {
		found += ": " + r.Why
	}
	return found
}

// holds says what is allowed, and whether value is.
func (r *Range) holds(value any) (allowed string, ok bool) {
	switch value := value.(type) {
	case string:
		return alternatives(r.Words), slices.Contains(r.Words, value)
	case time.Duration:
		allowed, ok = fmt.Sprintf("between %v and %v", cluster.ShortestDuration, cluster.LongestDuration),
			value >= cluster.ShortestDuration && value <= cluster.LongestDuration
		if r.Zero != "" {
			return "0s or " + allowed, ok || value == 0
		}
		return allowed, ok
	case int:
		return r.number(float64(value))
	case float64:
		return r.number(value)
	}
	return "", true
}

// number is holds for numbers; NaN is in no range.
func (r *Range) number(x float64) (allowed string, ok bool) {
	switch {
	case r.Above:
		return fmt.Sprintf("above %v and at most %v", r.Low, r.High), x > r.Low && x <= r.High
	case r.Zero != "":
		return fmt.Sprintf("0 (%s) or between %v and %v", r.Zero, r.Low, r.High), x == 0 || x >= r.Low && x <= r.High
	}
	return fmt.Sprintf("between %v and %v", r.Low, r.High), x >= r.Low && x <= r.High
}

func alternatives(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = strconv.Quote(word)
	}
	last := len(quoted) - 1
	if last == 0 {
		return quoted[0]
	}
	return strings.Join(quoted[:last], ", ") + " or " + quoted[last]
}

// Settings are the knobs of all policies, each table once.
type Settings []Knobs

// Find returns the table of that name, or nil.
func (s Settings) Find(table string) Knobs {
	for _, knobs := range s {
		if knobs.Table().Name == table {
			return knobs
		}
	}
	return nil
}

// Build makes the policy with its knobs from s, or with its defaults where s lacks them. Times are trace
// time: a cluster that emulates runs timeScale times as fast.
func (p *Spec) Build(s Settings, timeScale float64) (Policy, error) {
	if p.Knobs == nil {
		return p.New(nil), nil
	}
	knobs := p.Knobs()
	table := knobs.Table()
	if given := s.Find(table.Name); given != nil {
		reflect.ValueOf(knobs).Elem().Set(reflect.ValueOf(given).Elem())
		table = knobs.Table() // ranges follow values
	}
	var wrong []error
	for _, k := range table.Knobs {
		if problem := k.Problem(); problem != "" {
			wrong = append(wrong, fmt.Errorf("policy %s: %s.%s %s", p.Name, table.Name, k.Key, problem))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	for _, k := range table.Knobs {
		if d, ok := k.Value.(*time.Duration); ok {
			*d = time.Duration(float64(*d) / timeScale)
		}
	}
	return p.New(knobs), nil
}
