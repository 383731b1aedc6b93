package chaos

import "fmt"

// Violation is a rule that a history breaks.
type Violation struct {
	Rule string // its name
	Task string // whose history shows it; empty: nobody's alone
	Says string
}

func (v Violation) String() string {
	if v.Task == "" {
		return fmt.Sprintf("%s: %s", v.Rule, v.Says)
	}
	return fmt.Sprintf("%s: task %s: %s", v.Rule, v.Task, v.Says)
}

// Check returns what a history has that must never happen, in the order of the rules.
func Check(h History) []Violation {
	e := newEvidence(h)
	var found []Violation
	for _, rule := range rules {
		rule.check(e, func(task, format string, args ...any) {
			found = append(found, Violation{Rule: rule.name, Task: task, Says: fmt.Sprintf(format, args...)})
		})
	}
	return found
}
