package results

import (
	"encoding/json"
	"path/filepath"

	"dodoor/generator/rundir"
	"dodoor/internal/runfiles"
	"dodoor/internal/wholefile"

	"dodoor/report/metrics"
)

// Summarise folds the run in dir. A run that did not end, or whose rows are not all there, is an
// error: its figures would be wrong without looking wrong.
func Summarise(dir string) (*metrics.Summary, error) {
	info, err := rundir.ReadEnded(dir)
	if err != nil {
		return nil, err
	}
	fold := metrics.NewFold(info)
	if err := rundir.EachRow(dir, info, fold.Add); err != nil {
		return nil, err
	}
	return fold.Summary(), nil
}

// WriteSummary writes summary.json into dir, whole or not at all.
func WriteSummary(dir string, s *metrics.Summary) error {
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		return err
	}
	return wholefile.Write(filepath.Join(dir, runfiles.Summary), append(text, '\n'))
}
