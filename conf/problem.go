package conf

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problem is one thing wrong with a configuration. An error of Load or Validate joins them all.
type Problem struct {
	Where   string // "conf/local.toml:12" or "-set datastore.b=0"; empty: no text is to blame
	Key     string // dotted, list elements by name: class.m510.cores
	Message string // what is allowed and what was found
}

func (p Problem) Error() string {
	parts := []string{p.Where, p.Key, p.Message}
	if p.Key == "" || strings.HasPrefix(p.Where, "-set "+p.Key+"=") {
		parts = []string{p.Where, p.Message}
	}
	if p.Where == "" {
		parts = parts[1:]
	}
	return strings.Join(parts, ": ")
}

// An origin is the text that set a key. Origins sort in the order in which texts are applied.
type origin struct {
	rank int // 0: the file, 1...: included files, then overrides
	name string
	line int // 0: no line to point at
}

func (o origin) String() string {
	if o.line == 0 {
		return o.name
	}
	return fmt.Sprintf("%s:%d", o.name, o.line)
}

// printable keeps foreign text on one line of an error message.
func printable(text string) string {
	if strings.IndexFunc(text, unicode.IsControl) >= 0 || !utf8.ValidString(text) {
		return strconv.Quote(text)
	}
	return text
}

type finding struct {
	path, message string
	at            origin
}

// A report collects findings and knows where every key came from.
type report struct {
	main     origin // what to blame for what nobody wrote
	origins  map[string]origin
	blamed   map[string]bool
	findings []finding
}

func newReport(file string) *report {
	return &report{main: origin{name: file}, origins: map[string]origin{}, blamed: map[string]bool{}}
}

// add records what is wrong at path. A place that is already wrong, or lies inside one, is not
// reported again: the second message would only be a consequence of the first.
func (r *report) add(path, format string, args ...any) {
	r.addAt(r.origin(path), path, format, args...)
}

func (r *report) addAt(at origin, path, format string, args ...any) {
	for p := path; p != ""; p = parent(p) {
		if r.blamed[p] {
			return
		}
	}
	r.blamed[path] = true
	r.findings = append(r.findings, finding{path, fmt.Sprintf(format, args...), at})
}

// origin returns where path was set, or else the closest table around it.
func (r *report) origin(path string) origin {
	for p := path; p != ""; p = parent(p) {
		if o, ok := r.origins[p]; ok {
			return o
		}
	}
	return r.main
}

// written tells whether some text holds path itself. What was built in Go counts as written.
func (r *report) written(path string) bool {
	_, ok := r.origins[path]
	return ok || r.main.name == "" || r.origin(path).rank >= overrideRank
}

// override makes o the origin of path and of everything inside it.
func (r *report) override(path string, o origin) {
	for p := range r.origins {
		if strings.HasPrefix(p, path) && (len(p) == len(path) || p[len(path)] == '.' || p[len(path)] == '[') {
			delete(r.origins, p)
		}
	}
	r.origins[path] = o
}

// err returns all findings in the order of the texts, or nil; labels are the names that people see for list elements.
func (r *report) err(labels map[string]string) error {
	slices.SortStableFunc(r.findings, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.at.rank, b.at.rank), cmp.Compare(a.at.line, b.at.line), cmp.Compare(a.path, b.path))
	})
	var all []error
	for _, f := range r.findings {
		all = append(all, Problem{Where: f.at.String(), Key: relabel(f.path, labels), Message: f.message})
	}
	return errors.Join(all...)
}

// overrideRank sorts overrides behind every file.
const overrideRank = math.MaxInt / 2
