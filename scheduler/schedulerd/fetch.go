package schedulerd

import (
	"time"

	"dodoor/internal/cluster"
)

// retryRead is how long one stays away when the journal cannot be read just now.
const retryRead = time.Second

// whole asks the replica until its answer stands: what is in the journal alone is read meanwhile, without the lock. The caller holds the
// lock, and so it does in the end. It fails with cluster.Overloaded.
func (d *Daemon) whole(ask func()) error {
	for {
		ask()
		keys := d.replica.Wanted()
		if len(keys) == 0 {
			return nil
		}
		if err := d.fetch(keys); err != nil {
			return cluster.Later(cluster.Overloaded, retryRead, "scheduler %s: %v", d.cfg.Replica.Name, err)
		}
	}
}

// fetch brings results back into the replica.
func (d *Daemon) fetch(keys []string) error {
	type found struct {
		value  []byte
		damage error
	}
	all := make([]found, 0, len(keys))
	d.mu.Unlock()
	err := d.record.journal.Read(keys, func(_ string, value []byte, damage error) { all = append(all, found{value, damage}) })
	d.mu.Lock()
	if err != nil {
		return err
	}
	for i, f := range all {
		if err := d.replica.Fetched(keys[i], f.value, f.damage); err != nil {
			d.log.Error("a result that nobody has collected is lost", "error", err)
		}
	}
	return nil
}
