package spool

import (
	"context"
	"io"
	"os"

	"dodoor/internal/cluster"
)

// maxChunk bounds what one request reads.
const maxChunk = 1 << 20

// Read returns part of what a task printed. With expected the task is on its way: then it is waited for as well, as long
// as the request says.
func (s *Spool) Read(ctx context.Context, r cluster.OutputRequest, expected bool) (cluster.OutputChunk, error) {
	if s == nil {
		return cluster.OutputChunk{}, cluster.Errorf(cluster.UnknownTask, "the worker keeps no output, so there is none of task %q", r.TaskID)
	}
	ctx, cancel := context.WithTimeout(ctx, r.Wait)
	defer cancel()
	for {
		chunk, news, err := s.look(&r, expected)
		if err != nil || news == nil || len(chunk.Data) > 0 || ctx.Err() != nil {
			return chunk, err
		}
		select {
		case <-news:
		case <-ctx.Done():
		}
	}
}

// look returns what there is now, and a channel that is closed when there is more; nil: there will not be.
func (s *Spool) look(r *cluster.OutputRequest, expected bool) (c cluster.OutputChunk, news <-chan struct{}, err error) {
	s.mu.Lock()
	a := s.attempt(r)
	if a == nil {
		defer s.mu.Unlock()
		if expected {
			if s.begun == nil {
				s.begun = make(chan struct{})
			}
			return c, s.begun, nil
		}
		return c, nil, s.unknown(r.TaskID)
	}
	from := &a.streams[0]
	if r.Errors {
		from = &a.streams[1]
	}
	c = cluster.OutputChunk{Printed: from.printed, Kept: min(from.kept, from.printed), Ended: a.ended, Attempt: a.number, Loss: from.loss}
	if !a.ended {
		if a.changed == nil {
			a.changed = make(chan struct{})
		}
		news = a.changed
	}
	path := from.file
	s.mu.Unlock()
	n := min(int64(r.Max), c.Kept-r.Offset, maxChunk)
	if n <= 0 || r.Offset < 0 {
		return c, news, nil
	}
	c.Data, err = readRange(path, r.Offset, n)
	if err != nil {
		return cluster.OutputChunk{}, nil, s.unread(r, a, err)
	}
	return c, news, nil
}

// attempt returns the one that a request is about, if it is known, and the asker sees it.
func (s *Spool) attempt(r *cluster.OutputRequest) *attempt {
	a := s.newest[r.TaskID]
	for a != nil && (!r.For.Sees(a.user) || r.Attempt > 0 && a.number != r.Attempt) {
		a = a.older
	}
	return a
}

// unread says why a file could not be read: most likely it was removed since the look.
func (s *Spool) unread(r *cluster.OutputRequest, a *attempt, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if a.gone {
		return s.unknown(r.TaskID)
	}
	return cluster.Errorf(cluster.UnknownTask, "worker %s cannot read what task %q printed: %v", s.cfg.Worker, r.TaskID, err)
}

func readRange(path string, offset, n int64) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	data := make([]byte, n)
	read, err := file.ReadAt(data, offset)
	if err == io.EOF && read > 0 {
		err = nil
	}
	return data[:read], err
}
