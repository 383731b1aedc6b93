package spool

import (
	"container/list"
	"fmt"
	"io"
	"os"
)

// attempt is one execution of a task. The spool's lock guards it.
type attempt struct {
	user      string // whose task it was; empty: nobody's in particular
	job, task string
	number    int
	streams   [2]stream // standard output and standard error
	ended     bool
	gone      bool // nothing of it is kept any more
	erased    bool // and its files are removed
	older     *attempt
	list      *list.List
	place     *list.Element // in list, once it has ended
	changed   chan struct{} // closed when there is news; nil: nobody waits for that
}

// stream is what it printed on one of its two.
type stream struct {
	file    string // path; empty: there is none
	kept    int64
	printed int64
	loss    string // why not everything was kept; nothing is kept after a gap
}

func (a *attempt) cost() (n int64) {
	for i := range a.streams {
		if s := &a.streams[i]; s.file != "" {
			n += s.kept + fileCost
		}
	}
	return n
}

// wake tells those that wait for news.
func (a *attempt) wake() {
	if a.changed != nil {
		close(a.changed)
		a.changed = nil
	}
}

// Recording takes what an attempt prints. Each of its two streams has one writer; whoever reads what was kept need not wait
// for its end.
type Recording struct {
	spool   *Spool // nil: nothing is kept
	attempt *attempt
	files   [2]*os.File
}

// Stdout takes standard output. It never fails.
func (r *Recording) Stdout() io.Writer { return &writer{r, 0} }

// Stderr takes standard error. It never fails.
func (r *Recording) Stderr() io.Writer { return &writer{r, 1} }

// Printed is how many bytes there were of both, kept or not, once nobody writes any more.
func (r *Recording) Printed() int64 {
	return r.attempt.streams[0].printed + r.attempt.streams[1].printed
}

// Lost notes why the rest of what the task prints does not get here.
func (r *Recording) Lost(why string) {
	if r.spool == nil {
		return
	}
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	for i := range r.attempt.streams {
		if s := &r.attempt.streams[i]; s.loss == "" {
			s.loss = why
		}
	}
}

// End notes that the attempt has ended and prints nothing more. What was kept is with the kernel by then.
func (r *Recording) End() {
	if r.spool == nil {
		return
	}
	r.spool.mu.Lock()
	noted := r.spool.noteLoss(r.attempt)
	r.spool.mu.Unlock()
	for _, file := range r.files {
		if file == nil {
			continue
		}
		if noted == nil {
			_ = file.Chmod(endedMode) // without that, later processes say that there may be more
		}
		_ = file.Close() // every write has succeeded
	}
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	r.spool.finish(r.attempt)
}

type writer struct {
	*Recording
	stream int
}

// Write counts p and keeps what may be kept of it.
func (w *writer) Write(p []byte) (int, error) {
	s := &w.attempt.streams[w.stream]
	if w.spool == nil {
		s.printed += int64(len(p))
		return len(p), nil
	}
	room := w.reserve(int64(len(p)))
	written, err := 0, error(nil)
	if room > 0 {
		written, err = w.files[w.stream].Write(p[:room])
	}
	w.spool.mu.Lock()
	defer w.spool.mu.Unlock()
	if surplus := room - int64(written); surplus > 0 {
		s.kept -= surplus
		if !w.attempt.erased {
			w.spool.bytes -= surplus
		}
		s.loss = fmt.Sprintf("the spool cannot be written: %v", err)
	}
	s.printed += int64(len(p))
	w.attempt.wake()
	return len(p), nil
}

// reserve makes room for as much of n bytes as may be kept, and the file at the first.
func (w *writer) reserve(n int64) (room int64) {
	sp, a := w.spool, w.attempt
	sp.mu.Lock()
	defer sp.mu.Unlock()
	s := &a.streams[w.stream]
	if a.gone || s.loss != "" || n == 0 {
		return 0
	}
	room = min(n, sp.cfg.TaskBytes-a.streams[0].kept-a.streams[1].kept)
	if room < n {
		s.loss = fmt.Sprintf("truncated: worker %s keeps %d MiB of a task (worker.spool_task_mb)", sp.cfg.Worker, sp.cfg.TaskBytes>>20)
	}
	more := room
	if s.file == "" {
		more += fileCost
	}
	switch {
	case room == 0:
		return 0
	case !sp.makeRoom(more):
		s.loss = fmt.Sprintf("truncated: the spool of worker %s is full, %d MiB (worker.spool_mb)", sp.cfg.Worker, sp.cfg.Bytes>>20)
		return 0
	case s.file == "":
		path, file, err := sp.create(a, w.stream)
		if err != nil {
			s.loss = fmt.Sprintf("the spool cannot be written: %v", err)
			return 0
		}
		s.file, w.files[w.stream] = path, file
	}
	s.kept += room
	sp.bytes += more
	return room
}
