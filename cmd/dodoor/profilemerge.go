package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"dodoor/conf"
	"dodoor/profile"
)

// mergeFiles is `dodoor profile -merge`.
func (f *profileFlags) mergeFiles(stdout io.Writer) int {
	var others []string
	f.Visit(func(given *flag.Flag) {
		if !slices.Contains([]string{"merge", "out", "json", "quiet"}, given.Name) {
			others = append(others, "-"+given.Name)
		}
	})
	if len(others) > 0 {
		return f.fail(exitUsage, fmt.Errorf("%s: -merge measures nothing, so only -out and -json go with it", strings.Join(others, ", ")))
	}
	if f.out == "" {
		return f.fail(exitUsage, errors.New("-merge needs -out, the file to write"))
	}
	files := words(f.merge)
	types, err := mergeCatalogues(files)
	if err == nil {
		err = prepareFile(f.out)
	}
	if err != nil {
		return f.fail(exitUsage, err)
	}
	head := []string{"Merged by dodoor profile from " + strings.Join(files, ", ") + "."}
	text := profile.Text(types, head, func(string, string, string) string { return "" })
	if err := writeWhole(f.out, text); err != nil {
		return f.fail(exitFailed, err)
	}
	err = f.show(stdout, listFigures(types, func(string, string) *spread { return nil }))
	if err != nil {
		return f.fail(exitFailed, err)
	}
	return exitDone
}

// mergeCatalogues reads catalogues and makes one of them.
func mergeCatalogues(files []string) ([]conf.TaskType, error) {
	var parts []profile.Part
	var failures []error
	for _, file := range files {
		c, err := conf.ReadTypes(file)
		if err != nil {
			failures = append(failures, err)
			continue
		}
		parts = append(parts, profile.Part{Types: c.Types, Where: c.Where})
	}
	if len(failures) > 0 {
		return nil, errors.Join(failures...)
	}
	return profile.Merge(parts)
}
