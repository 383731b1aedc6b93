package executor

import (
	"io"
	"sync"

	"dodoor/worker"
	"dodoor/worker/spool"
)

// Capture is where the output of a task goes: the end of it, and of a command all that the spool keeps. End has to be
// called.
type Capture struct {
	*spool.Recording
	mu   sync.Mutex // of tail
	tail Tail
}

// NewCapture returns what takes the output of a task. What a configured type prints is counted, and its end kept.
func NewCapture(to *spool.Spool, s *worker.Start) *Capture {
	if s.Command == nil {
		return &Capture{Recording: (*spool.Spool)(nil).Begin(s.User, "", s.TaskID, s.Attempt)}
	}
	return &Capture{Recording: to.Begin(s.User, s.Command.Job, s.TaskID, s.Attempt)}
}

// Stdout takes standard output, or all that a task prints.
func (c *Capture) Stdout() io.Writer { return &captured{c, c.Recording.Stdout()} }

// Stderr takes standard error.
func (c *Capture) Stderr() io.Writer { return &captured{c, c.Recording.Stderr()} }

// Tail is the last lines of both.
func (c *Capture) Tail() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tail.String()
}

type captured struct {
	of *Capture
	to io.Writer
}

// Write never fails.
func (w *captured) Write(p []byte) (int, error) {
	w.of.mu.Lock()
	_, _ = w.of.tail.Write(p)
	w.of.mu.Unlock()
	return w.to.Write(p)
}
