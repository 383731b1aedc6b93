package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"dodoor/internal/cluster"
)

// Output names what a task printed: where it ran, and which attempt is meant (0: the newest).
type Output struct {
	Worker  string
	TaskID  string
	Attempt int
}

// rangeBytes is how much of an output is asked for at a time.
const rangeBytes = 1 << 20

// read asks for a part of one of the two streams.
func (c *Cluster) read(ctx context.Context, o Output, errors bool, offset int64, most int, wait time.Duration) (chunk cluster.OutputChunk,
	err error) {
	w, err := c.worker(ctx, o.Worker)
	if err != nil {
		return chunk, err
	}
	chunk, err = w.Output(ctx, cluster.OutputRequest{TaskID: o.TaskID, Attempt: o.Attempt, Errors: errors, Offset: offset, Max: most,
		Wait: wait})
	switch {
	case err == nil || ctx.Err() != nil:
		return chunk, err
	case cluster.CodeOf(err) == 0:
		c.forget(o.Worker)
		return chunk, awayError{o.Worker, err}
	}
	return chunk, fmt.Errorf("its output on worker %s: %w", o.Worker, err)
}

// copy writes what follows a part that was read, to the end of what was kept.
// An error says what was not kept.
func (c *Cluster) copy(ctx context.Context, o Output, errors bool, chunk cluster.OutputChunk, w io.Writer) (err error) {
	for offset := int64(0); ; {
		if _, err := w.Write(chunk.Data); err != nil {
			return writeError{err}
		}
		offset += int64(len(chunk.Data))
		if offset >= chunk.Kept || len(chunk.Data) == 0 {
			return lossOf(chunk)
		}
		if chunk, err = c.read(ctx, o, errors, offset, rangeBytes, 0); err != nil {
			return err
		}
	}
}

// writeError is whoever reads what is printed being gone, or a full disk: the end of printing.
type writeError struct{ error }

func (e writeError) Unwrap() error { return e.error }

// followWait is how long a worker holds a question for more output.
const followWait = 5 * time.Second

// Follow writes what a task prints, from a place on, until it has ended. It follows one of the two streams.
func (c *Cluster) Follow(ctx context.Context, o Output, errors bool, w io.Writer) error {
	for offset := int64(0); ; {
		chunk, err := c.read(ctx, o, errors, offset, rangeBytes, followWait)
		if err != nil {
			return err
		}
		if _, err := w.Write(chunk.Data); err != nil {
			return writeError{err}
		}
		offset += int64(len(chunk.Data))
		if o.Attempt == 0 {
			o.Attempt = chunk.Attempt // a later one is another story
		}
		if chunk.Ended && offset >= chunk.Kept {
			return lossOf(chunk)
		}
	}
}

// lossOf says that not everything was kept.
func lossOf(chunk cluster.OutputChunk) error {
	if chunk.Loss == "" {
		return nil
	}
	return fmt.Errorf("%w: %d of %d bytes were kept: %s", ErrLost, chunk.Kept, chunk.Printed, chunk.Loss)
}

// ErrLost says that part of what a task printed is not there.
var ErrLost = errors.New("output is not complete")
