package scheduler

import (
	"strconv"
	"strings"
)

// oddIDs are the ids of a job's tasks that do not follow from the job's and the index.
type oddIDs struct {
	byIndex map[int64]string
	byID    map[string]int64
}

// usualID is what the task of an index is called, unless its submitter says otherwise.
func usualID(job string, index int64) string { return job + "." + strconv.FormatInt(index, 10) }

// add notes what the task of an index is called.
func (o *oddIDs) add(job string, index int64, id string) {
	if usual, ok := usualIndex(job, id); ok && usual == index {
		return
	}
	if o.byIndex == nil {
		o.byIndex, o.byID = map[int64]string{}, map[string]int64{}
	}
	o.byIndex[index], o.byID[id] = id, index
}

// usualIndex is the inverse of usualID; false: id is none of these.
func usualIndex(job, id string) (int64, bool) {
	digits, ok := strings.CutPrefix(id, job)
	if !ok || len(digits) < 2 || digits[0] != '.' {
		return 0, false
	}
	index, err := strconv.ParseInt(digits[1:], 10, 64)
	return index, err == nil && (digits[1] >= '1' && digits[1] <= '9' || digits == ".0")
}

// taskID returns the id of the task with an index.
func (j *job) taskID(index int64) string {
	if id, odd := j.ids.byIndex[index]; odd {
		return id
	}
	return usualID(j.ID, index)
}

// indexOf returns the index of the task with an id; false: there is none.
func (j *job) indexOf(id string) (int64, bool) {
	if index, odd := j.ids.byID[id]; odd {
		return index, true
	}
	index, usual := usualIndex(j.ID, id)
	if _, e := j.find(index); !usual || e == nil {
		return 0, false
	}
	_, odd := j.ids.byIndex[index]
	return index, !odd
}
