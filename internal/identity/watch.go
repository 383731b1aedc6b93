package identity

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"
)

// watchEvery is how often the files are looked at.
const watchEvery = 3 * time.Second

// stamp says of the files of a bundle which they are, without reading them.
type stamp [len(fileNames)]struct {
	size     int64
	modified time.Time
}

func stampOf(folder string) (s stamp, _ error) {
	for i, name := range fileNames {
		info, err := os.Stat(filepath.Join(folder, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return s, err
		}
		s[i].size, s[i].modified = info.Size(), info.ModTime()
	}
	return s, nil
}

// Watch loads the bundle again whenever its files have changed, until ctx ends. What is then not a bundle that is accepted, or of another
// identity, is logged once, and the one from before stays.
func (b *Bundle) Watch(ctx context.Context, log *slog.Logger) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	seen := b.now.Load().files
	b.warn(log)
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		files, err := stampOf(b.folder)
		if err == nil && files == seen {
			continue
		}
		seen = files
		if err == nil {
			err = b.reload()
		}
		if err != nil {
			log.Error("the new certificates are not used; those from before stay", "error", err)
			continue
		}
		log.Info("certificates loaded again", "identity", b.Own().String(), "until", written(b.NotAfter()))
		b.warn(log)
	}
}

// warn tells of revocation lists that are out of date. They hold all the same.
func (b *Bundle) warn(log *slog.Logger) {
	if due := b.ListsDue(); !due.IsZero() && time.Now().After(due) {
		log.Warn("a revocation list should have been replaced by a newer one: who was revoked since is let in", "file", b.file(RevokedFile),
			"since", written(due))
	}
}

// reload takes the files as they are now.
func (b *Bundle) reload() error {
	next, err := Open(b.folder, b.domain)
	if err != nil {
		return err
	}
	if err := b.Own().Admits(next.Own()); err != nil {
		return err
	}
	if err := next.now.Load().follows(b.now.Load()); err != nil {
		return fmt.Errorf("%s: %w", b.file(RevokedFile), err)
	}
	b.now.Store(next.now.Load())
	b.generation.Add(1)
	changed := make(chan struct{})
	close(*b.changed.Swap(&changed))
	return nil
}
