package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"dodoor/internal/poll"
)

// turnWait is how long one who starts or stops services here waits for another who does.
const turnWait = 30 * time.Second

// turn waits until nobody else starts or stops services here, and keeps others from it until the file is closed. Whose
// connection broke may be at it still.
func (f Folder) turn(ctx context.Context) (lock *os.File, err error) {
	ctx, cancel := context.WithTimeout(ctx, turnWait)
	defer cancel()
	if !poll.Until(ctx, lookEvery, func() bool {
		lock, err = f.hold("turn")
		return !errors.Is(err, errHeld)
	}) {
		return nil, fmt.Errorf("somebody else has been starting or stopping services in %s for %v: try again", f, turnWait)
	}
	return lock, err
}
