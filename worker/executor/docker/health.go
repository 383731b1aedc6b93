package docker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// How long the engine gets for one request. A busy one may take seconds to make a container.
const (
	requestLimit = time.Minute
	removeLimit  = 30 * time.Second
	inspectLimit = 10 * time.Second
	killLimit    = 10 * time.Second // to take the order, and again to be gone
	readyLimit   = time.Second      // somebody waits for the answer
)

// request asks the engine for something. Tasks that end do not end requests: a container whose making
// was interrupted would be left to nobody.
func (d *Executor) request(limit time.Duration, do func(ctx context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	err := do(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		return noAnswer(limit)
	}
	return err
}

// noAnswer is the error of an engine that takes longer than a limit.
func noAnswer(limit time.Duration) error {
	return fmt.Errorf("the engine did not answer within %v", limit)
}

// Tasks wait for an engine that does not answer: long enough for one that is being restarted, and so
// that a worker whose engine is gone does not go through everybody's tasks in no time.
const (
	reconnectLimit = 10 * time.Second
	pingEvery      = 250 * time.Millisecond
)

// reconnects waits for an engine that did not answer, and reports whether it does again.
func (d *Executor) reconnects(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, reconnectLimit)
	defer cancel()
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
			if d.request(readyLimit, d.engine.ping) == nil {
				return true
			}
		}
	}
}
