package journal

import (
	"fmt"
	"syscall"
)

// Margin is how many bytes have to be free on the disk for new tasks to be taken: room for what those that are there have yet to tell.
const Margin = 64 << 20

// Room fails when the disk has less than Margin left, with what to do.
func (j *Journal) Room() error {
	var s syscall.Statfs_t
	if err := syscall.Statfs(j.folder, &s); err != nil {
		return fmt.Errorf("journal %s: %w", j.folder, err)
	}
	if free := int64(s.Bavail) * s.Bsize; free < Margin {
		return fmt.Errorf("the disk of its journal %s has %d MiB left, and it needs %d: make room there", j.folder, free>>20, Margin>>20)
	}
	return nil
}
