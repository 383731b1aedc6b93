package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"dodoor/internal/runfiles"
	"dodoor/internal/wholefile"
)

// Files are what a campaign writes.
type Files struct{ Page, Results string }

// plots holds the pictures, beside the page.
const plots = runfiles.Plots

// Prepare makes the directories, before hours go into what they will hold.
func (f Files) Prepare() error {
	for _, dir := range []string{filepath.Join(filepath.Dir(f.Page), plots), filepath.Dir(f.Results)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("directory for the results: %w", err)
		}
	}
	return nil
}

// Write writes the page, its pictures and the summaries of all runs. Pictures of an earlier campaign go: they would
// look current.
func (p *Plan) Write(f Files, results *Results, about About) error {
	drawings, err := p.Drawings(results)
	if err != nil {
		return err
	}
	summaries, err := p.JSON()
	if err != nil {
		return err
	}
	dir := filepath.Join(filepath.Dir(f.Page), plots)
	old, err := filepath.Glob(filepath.Join(dir, drawingPrefix+"*.svg"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if err := os.Remove(path); err != nil {
			return err
		}
	}
	failures := []error{wholefile.WritePublic(f.Page, p.Page(results, about)), wholefile.WritePublic(f.Results, summaries)}
	for _, d := range drawings {
		failures = append(failures, wholefile.WritePublic(filepath.Join(dir, d.Name), d.SVG))
	}
	return errors.Join(failures...)
}
