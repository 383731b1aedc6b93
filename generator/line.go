package generator

import "slices"

// line is tasks that wait, first come, first served.
type line struct {
	tasks []int32
	first int
}

func (l *line) len() int { return len(l.tasks) - l.first }

func (l *line) head() int32 { return l.tasks[l.first] }

func (l *line) push(i int32) {
	if l.first > len(l.tasks)/2 { // what was taken leaves, so that the memory is used again
		l.tasks = slices.Delete(l.tasks, 0, l.first)
		l.first = 0
	}
	l.tasks = append(l.tasks, i)
}

func (l *line) pop() { l.first++ }

// clear empties the line and returns what was in it.
func (l *line) clear() []int32 {
	waiting := l.tasks[l.first:]
	*l = line{}
	return waiting
}
