package drive

import (
	"fmt"
	"time"

	"dodoor/generator"
	"dodoor/internal/cluster"
)

// row starts the row of a task with what the generator itself measured.
func (r *run) row(i int32) generator.Row {
	row := r.cfg.Workload.NewRow(int(i))
	row.Sent = r.tasks[i].sent
	row.Warmup = int(i) < r.cfg.Warmup
	return row
}

// finish takes the records of one scheduler. A task may have two, after its scheduler was thought
// dead; the first one counts.
func (r *run) finish(records []cluster.TaskRecord) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for j := range records {
		if i, ok := r.byID[records[j].ID]; ok {
			row := r.row(i)
			row.Fill(&records[j], time.Duration(r.start.UnixNano()), r.tasks[i].submissions)
			r.write(i, &row)
		}
	}
}

// end ends a task that has no record.
func (r *run) end(i int32, outcome cluster.Outcome, reason string) {
	row := r.row(i)
	row.Outcome, row.Reason = outcome, reason
	if p := r.tasks[i].peer; p != nobody {
		row.Scheduler = r.peers[p].Name
	}
	r.write(i, &row)
}

// write is the only place where a task ends, so each has exactly one row.
func (r *run) write(i int32, row *generator.Row) {
	r.tasks[i].state = ended
	delete(r.byID, row.TaskID)
	r.result.Tasks++
	switch row.Outcome {
	case cluster.Finished:
		r.result.Finished++
	case cluster.Failed:
		r.result.Failed++
	case cluster.TimedOut:
		r.result.TimedOut++
	case cluster.Cancelled:
		r.result.Cancelled++
	default:
		r.result.Lost++
	}
	if err := r.dir.Rows.Write(row); err != nil && r.failure == nil {
		r.failure = fmt.Errorf("row of task %s: %w", row.TaskID, err)
	}
	if r.open--; r.open == 0 {
		r.halt()
		close(r.over)
		for _, p := range r.peers {
			p.wake.Broadcast()
		}
	}
}
