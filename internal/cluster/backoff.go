package cluster

import "time"

// Backoff is the pause before something that failed is tried again: 10 ms after the first failure, twice as
// long after every further one, at most a second. Its zero value is ready.
type Backoff struct{ current time.Duration }

// The pauses after the first failure, and after many.
const (
	FirstBackoff = 10 * time.Millisecond
	LastBackoff  = time.Second
)

// RegisterEvery is the pause between attempts to register while the data service is away. It does not grow: until
// then, nobody learns of who registers.
const RegisterEvery = 100 * time.Millisecond

// Next returns the pause after one more failure.
func (b *Backoff) Next() time.Duration {
	b.current = min(max(2*b.current, FirstBackoff), LastBackoff)
	return b.current
}

// Reset forgets the failures: it went well.
func (b *Backoff) Reset() { b.current = 0 }
