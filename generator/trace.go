package generator

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"dodoor/internal/cluster"
)

// Request is one row of a trace.
type Request struct {
	ID         string
	Type, Mode string
	Demand     cluster.Resources
	Duration   int64         // estimate, milliseconds
	Start      time.Duration // since the beginning of the trace
}

// The columns of a trace, in the order that a file without a header has. Memory and disk are read
// as MiB. Named extra resources follow as columns of their own, which only a header can announce.
var traceColumns = []string{"id", "cores", "memoryMB", "diskMB", "durationMs", "startMs", "type", "mode"}

const (
	columnID = iota
	columnCores
	columnMemory
	columnDisk
	columnDuration
	columnStart
	columnType
	columnMode
	columnExtra // the first extra, when the cluster has any
)

// maxStart bounds a start time, so that no pacing can overflow a time.Duration.
const maxStart = cluster.LongestDuration

// maxWord bounds an id, a type and a mode, in bytes.
const maxWord = 256

// TraceReader reads requests one by one, with or without a header line. A header may order the
// columns as it likes and is matched whatever its case; a column that is not known is refused, since
// ignoring a misspelt one would replay another workload than the one meant.
//
// Rules: ids are not empty and occur once; start times do not go backwards; cores are positive and
// rounded to the nearest millicore; memory, disk and duration are whole numbers. Every error is a
// *SyntaxError or wraps the one of the underlying reader.
type TraceReader struct {
	lines   *lineReader
	names   []string // known columns: traceColumns, then the extras
	columns []int    // field of each known column; -1: absent
	width   int      // fields in a line; 0: first line not seen yet
	seen    map[string]int
	words   map[string]string // types and modes, each kept once
	last    time.Duration
}

// NewTraceReader reads a trace from r. dims names the extra resources that a column may ask for.
func NewTraceReader(r io.Reader, dims cluster.Dimensions) *TraceReader {
	return &TraceReader{
		lines: newLineReader(r),
		names: slices.Concat(traceColumns, dims.Extras()),
		seen:  map[string]int{},
		words: map[string]string{},
	}
}

// ReadTrace reads the first limit requests of r, or all of them when limit is 0. A trace without
// any request is an error; one with fewer than limit is not.
func ReadTrace(r io.Reader, dims cluster.Dimensions, limit int) ([]Request, error) {
	t := NewTraceReader(r, dims)
	var requests []Request
	for limit == 0 || len(requests) < limit {
		q, err := t.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		requests = append(requests, q)
	}
	if len(requests) == 0 {
		return nil, &SyntaxError{Problem: "the trace is empty: no requests"}
	}
	return requests, nil
}

// Read returns the next request, or io.EOF after the last.
func (t *TraceReader) Read() (Request, error) {
	fields, err := t.lines.next()
	if err == nil && t.width == 0 {
		header := isHeader(fields)
		if err = t.arrange(fields, header); err == nil && header {
			fields, err = t.lines.next()
		}
	}
	if err != nil {
		return Request{}, err
	}
	if len(fields) != t.width {
		return Request{}, t.lines.fail(fmt.Sprintf("has %d fields instead of %d (%s)",
			len(fields), t.width, strings.Join(t.present(), ",")))
	}
	return t.parse(fields)
}

// isHeader: a row of data has numbers in it, a header has none.
func isHeader(fields []string) bool {
	return !slices.ContainsFunc(fields, func(f string) bool {
		_, err := strconv.ParseFloat(f, 64)
		return err == nil
	})
}

// arrange decides from the first line which field holds which column.
func (t *TraceReader) arrange(fields []string, header bool) error {
	t.width = len(fields)
	t.columns = slices.Repeat([]int{-1}, len(t.names))
	if !header {
		for c := range traceColumns {
			t.columns[c] = c
		}
		t.width = len(traceColumns)
		return nil
	}
	for i, f := range fields {
		c := slices.IndexFunc(t.names, func(n string) bool { return strings.EqualFold(n, f) })
		if c < 0 {
			return t.lines.fail(fmt.Sprintf("unknown column %q: a trace has %s", shorten(f), strings.Join(t.names, ",")))
		}
		if t.columns[c] >= 0 {
			return t.lines.fail(fmt.Sprintf("column %s is named twice", t.names[c]))
		}
		t.columns[c] = i
	}
	for c := range traceColumns {
		if t.columns[c] < 0 {
			return t.lines.fail(fmt.Sprintf("column %s is missing: a trace has %s", t.names[c], strings.Join(traceColumns, ",")))
		}
	}
	return nil
}

// present lists the columns of this trace in its own order.
func (t *TraceReader) present() []string {
	names := make([]string, t.width)
	for c, i := range t.columns {
		if i >= 0 {
			names[i] = t.names[c]
		}
	}
	return names
}

func (t *TraceReader) parse(fields []string) (Request, error) {
	var q Request
	var err error
	cell := func(column int) string { return fields[t.columns[column]] }
	fail := func(column int, problem string) {
		if err == nil && problem != "" {
			err = &SyntaxError{Line: t.lines.line, Column: t.names[column], Value: cell(column), Problem: problem}
		}
	}
	amount := func(column, places int, least, most int64) int64 {
		v, problem := parseAmount(cell(column), places, least, most)
		fail(column, problem)
		return v
	}
	q.ID = strings.Clone(cell(columnID))
	fail(columnID, t.checkID(q.ID))
	q.Demand[cluster.Cores] = amount(columnCores, milliPlaces, 1, cluster.MaxAmount)
	q.Demand[cluster.Memory] = amount(columnMemory, wholePlaces, 0, cluster.MaxAmount)
	q.Demand[cluster.Disk] = amount(columnDisk, wholePlaces, 0, cluster.MaxAmount)
	for c := columnExtra; c < len(t.names); c++ {
		if t.columns[c] >= 0 {
			q.Demand[cluster.FirstExtra+c-columnExtra] = amount(c, milliPlaces, 0, cluster.MaxAmount)
		}
	}
	q.Duration = amount(columnDuration, wholePlaces, 0, cluster.MaxDuration)
	q.Start = time.Duration(amount(columnStart, nanoPlaces, 0, int64(maxStart)))
	if q.Start < t.last {
		fail(columnStart, "goes backwards: the request before starts at "+string(appendMillis(nil, t.last)))
	}
	fail(columnType, checkWord(cell(columnType), true))
	fail(columnMode, checkWord(cell(columnMode), false))
	if err != nil {
		return Request{}, err
	}
	q.Type, q.Mode = t.intern(cell(columnType)), t.intern(cluster.CanonicalMode(cell(columnMode)))
	t.seen[q.ID], t.last = t.lines.line, q.Start
	return q, nil
}

func (t *TraceReader) checkID(id string) string {
	if first, twice := t.seen[id]; twice {
		return fmt.Sprintf("is the id of line %d too: ids must differ", first)
	}
	return checkWord(id, true)
}

func checkWord(s string, required bool) string {
	switch {
	case required && s == "":
		return "must not be empty"
	case len(s) > maxWord:
		return fmt.Sprintf("is longer than %d bytes", maxWord)
	case !printable(s):
		return "must be UTF-8 text without control characters"
	}
	return ""
}

func (t *TraceReader) intern(s string) string {
	w, ok := t.words[s]
	if !ok {
		w = strings.Clone(s)
		t.words[w] = w
	}
	return w
}

// parseAmount reads a number between least and most, both in units of 10^-places.
func parseAmount(s string, places int, least, most int64) (v int64, problem string) {
	v, exact, problem := parseDecimal(s, places)
	allowed := func() string {
		return fmt.Sprintf("allowed are %s to %s", appendDecimal(nil, least, places), appendDecimal(nil, most, places))
	}
	switch {
	case problem != "":
		return 0, problem + ": " + allowed()
	case !exact && places == wholePlaces:
		return 0, "must be a whole number: " + allowed()
	case !exact && places == milliPlaces && v == 0 && s[0] != '-':
		return 0, "is less than 0.001"
	case v < least || v > most || !exact && s[0] == '-' && least >= 0:
		return 0, "is out of range: " + allowed()
	}
	return v, ""
}
