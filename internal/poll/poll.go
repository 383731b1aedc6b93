// Package poll asks, or does, something again and again.
package poll

import (
	"context"
	"time"
)

// Every calls do after each pause until ctx ends.
func Every(ctx context.Context, pause time.Duration, do func()) {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			do()
		}
	}
}

// Until asks at once and after each pause whether it is done, and reports whether it was before ctx ended.
func Until(ctx context.Context, pause time.Duration, done func() bool) bool {
	ticker := time.NewTicker(pause)
	defer ticker.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
	}
	return true
}
