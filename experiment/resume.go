package experiment

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"dodoor/generator/rundir"
	"dodoor/internal/version"
	"dodoor/report/results"
)

// resume reads the summary of a cell that has run already with the same settings. A cell that was cut off is
// cleared away; one with other settings is an error.
func (l *cell) resume() error {
	info, err := rundir.Read(l.Dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Ended == nil || info.Stopped:
		return rundir.Remove(l.Dir)
	case info.On != l.On:
		return fmt.Errorf("%s was run on %s: choose another -out, or remove it", l.Dir, info.On)
	}
	want, err := settings(l.Conf)
	if err != nil {
		return err
	}
	if key := differs(info.Settings, want, ""); key != "" {
		return fmt.Errorf("%s was run with another %s: choose another -out, or remove it", l.Dir, key)
	}
	for _, s := range info.Services {
		if s.Version != version.Build() {
			return fmt.Errorf("%s was run by %s of version %s, this is %s: choose another -out, or remove it", l.Dir, s.Name,
				s.Version, version.Build())
		}
	}
	l.summary, err = results.Summarise(l.Dir)
	return err
}

// differs returns the first key in which two configurations differ, or "". Where rows are written, and how
// loud the log is, does not matter.
func differs(a, b map[string]any, prefix string) string {
	keys := slices.Sorted(maps.Keys(a))
	for _, key := range slices.Sorted(maps.Keys(b)) {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	for _, key := range keys {
		path := prefix + key
		if path == "generator.out" || path == "log" || path == "http" {
			continue
		}
		x, xok := a[key].(map[string]any)
		y, yok := b[key].(map[string]any)
		if xok && yok {
			if inner := differs(x, y, path+"."); inner != "" {
				return inner
			}
			continue
		}
		if jsonText(a[key]) != jsonText(b[key]) {
			return path
		}
	}
	return ""
}

// jsonText makes values comparable that went through JSON (where every number is a float) and others.
func jsonText(value any) string {
	encoded, err := json.Marshal(value)
	if err != nil {
		return fmt.Sprint(value)
	}
	return string(encoded)
}
