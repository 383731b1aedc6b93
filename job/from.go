package job

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"dodoor/internal/cluster"
)

// line is a task as somebody wrote it: a JSON object on a line of its own.
type line struct {
	Argv     []string          `json:"argv"`
	Env      map[string]string `json:"env"`
	Stdin    *string           `json:"stdin"`
	Cores    *orAuto[float64]  `json:"cores"`
	Memory   *orAuto[int64]    `json:"memory"`
	Duration *string           `json:"duration"`
	Name     string            `json:"name"`
}

// maxLine bounds a line, which may hold as much as a template.
const maxLine = 2 * cluster.MaxTemplate

// fromLines is a plan whose tasks have a line each. Every line was read once before, so it can be read again.
type fromLines struct {
	lines   []string
	common  cluster.Template
	figures Figures
	longest int
}

// ReadTasks returns the tasks of a text with a JSON object per line: argv, and if need be env, stdin, cores, memory,
// duration and name. What a line does not say, common and figures do. Blank lines count and are no tasks. The plan shares
// the bytes of the text. Its error names the first bad line.
func ReadTasks(text []byte, common cluster.Template, figures Figures) (Plan, error) {
	p := &fromLines{common: common, figures: figures}
	for i, l := range Lines(text) {
		if strings.TrimSpace(l) == "" {
			continue
		}
		if err := p.check(l); err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		p.longest = max(p.longest, len(l))
		if p.lines = append(p.lines, l); len(p.lines) > MaxTasks {
			return nil, fmt.Errorf("line %d: more than %d tasks: run them as several jobs", i+1, MaxTasks)
		}
	}
	if len(p.lines) == 0 {
		return nil, errors.New("there are no tasks: a line of each, as in {\"argv\": [\"gzip\", \"a.log\"]}")
	}
	return p, nil
}

func (p *fromLines) Len() int64 { return int64(len(p.lines)) }

func (p *fromLines) Size() int { return frame + 2*p.longest + p.common.Size() }

func (p *fromLines) At(i int64) Task {
	t, _ := p.read(p.lines[i]) // it was read before
	t.Index = i + 1
	return t
}

// check refuses a line that is no task, and one whose reader would change or pass over something.
func (p *fromLines) check(text string) error {
	switch {
	case strings.HasPrefix(text, "\ufeff"):
		return errors.New("begins with a byte order mark (U+FEFF): save the file as UTF-8 without one")
	case !utf8.ValidString(text):
		return errors.New("is not UTF-8, as JSON is: an argument of other bytes needs a list of entries, :::: FILE or -each-line FILE")
	}
	if _, err := p.read(text); err != nil {
		return err
	}
	return checkKeys(json.NewDecoder(strings.NewReader(text)), keysOfLine)
}

// read is what a line says, with what it leaves to the others.
func (p *fromLines) read(text string) (Task, error) {
	l, err := decode(text)
	if err != nil {
		return Task{}, err
	}
	own := p.common
	own.Argv = l.Argv
	if len(l.Env) > 0 {
		own.Env = slices.Clone(own.Env)
		for _, name := range slices.Sorted(maps.Keys(l.Env)) {
			if err := CheckEnv(name, l.Env[name]); err != nil {
				return Task{}, err
			}
			own.Env = append(own.Env, name+"="+l.Env[name])
		}
	}
	if l.Stdin != nil {
		own.Stdin = []byte(*l.Stdin)
	}
	t := Task{Template: &own, Figures: p.figures}
	if l.Name != "" {
		t.Entries = []string{l.Name}
	}
	if err := l.figures(&t.Figures); err != nil {
		return Task{}, err
	}
	if err := own.Check(); err != nil {
		return Task{}, err
	}
	if err := checkPlaces(own.Argv, len(t.Entries)); err != nil {
		return Task{}, fmt.Errorf("%w (its name is the one entry of a line)", err)
	}
	t.Digest = own.Digest()
	return t, nil
}

func decode(text string) (l line, err error) {
	if len(text) > maxLine {
		return l, fmt.Errorf("has %d bytes: at most %d are allowed", len(text), maxLine)
	}
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil {
		return l, fmt.Errorf("is no task: %s: an object is expected with argv, and if need be env, stdin, cores, memory, duration, name",
			strings.TrimPrefix(err.Error(), "json: "))
	}
	if _, err := d.Token(); err != io.EOF {
		return l, errors.New("has more than one JSON object: a line holds one task")
	}
	for _, a := range l.Argv {
		if strings.IndexByte(a, 0) >= 0 {
			return l, errors.New("argv has a zero byte, which no argument can hold")
		}
	}
	if len(l.Name) > cluster.MaxEntry || strings.IndexByte(l.Name, 0) >= 0 {
		return l, fmt.Errorf("name has %d bytes, at most %d are allowed, or a zero byte", len(l.Name), cluster.MaxEntry)
	}
	return l, nil
}

// keysOfLine are those of a line, as they are written.
var keysOfLine = []string{"argv", "env", "stdin", "cores", "memory", "duration", "name"}

// checkKeys refuses, in JSON that was read once, what the reader passes over: a key that comes twice, of which the last one
// would count, and one that differs from those known in its capitals. Nil: any key is known.
func checkKeys(d *json.Decoder, known []string) error {
	if begin, err := d.Token(); err != nil || begin != json.Delim('{') {
		return err
	}
	seen := map[string]bool{}
	for d.More() {
		token, err := d.Token()
		if err != nil {
			return err
		}
		key, _ := token.(string)
		switch {
		case seen[key]:
			return fmt.Errorf("has %.80q twice", key)
		case known != nil && !slices.Contains(known, key):
			return fmt.Errorf("has %.80q: keys are %s, in small letters", key, strings.Join(known, ", "))
		case known != nil && key == "env":
			err = checkKeys(d, nil)
		default:
			err = d.Decode(new(json.RawMessage))
		}
		if err != nil {
			return err
		}
		seen[key] = true
	}
	_, err := d.Token()
	return err
}

// Auto is what a person says instead of a demand that experience is to decide.
const Auto = "auto"

// orAuto is a number, or the word auto.
type orAuto[N int64 | float64] struct {
	number N
	auto   bool
}

// UnmarshalJSON reads it.
func (o *orAuto[N]) UnmarshalJSON(text []byte) error {
	if o.auto = string(text) == `"`+Auto+`"`; o.auto {
		return nil
	}
	if err := json.Unmarshal(text, &o.number); err != nil {
		return fmt.Errorf("%.80s: a number is expected, whole for memory, or %q", text, Auto)
	}
	return nil
}

// figures puts what the line says in the place of what holds for all.
func (l *line) figures(f *Figures) error {
	if l.Cores != nil || l.Memory != nil {
		var demand cluster.Resources
		if f.Demand != nil {
			demand = *f.Demand
		}
		if l.Cores != nil {
			millicores, err := Millicores(l.Cores.number)
			if err != nil {
				return fmt.Errorf("cores: %w", err)
			}
			demand[cluster.Cores], f.LearnCores = millicores, l.Cores.auto
		}
		if l.Memory != nil {
			if l.Memory.number < 0 || l.Memory.number > cluster.MaxAmount {
				return fmt.Errorf("memory: %d: allowed are 0 to %d MB", l.Memory.number, cluster.MaxAmount)
			}
			demand[cluster.Memory], f.LearnMemory = l.Memory.number, l.Memory.auto
		}
		f.Demand = &demand
	}
	if l.Duration != nil {
		d, err := time.ParseDuration(*l.Duration)
		if err != nil {
			return fmt.Errorf("duration: %.80q: a text like \"30s\" or \"1h30m\" is expected", *l.Duration)
		}
		if f.Duration, err = Milliseconds(d); err != nil {
			return fmt.Errorf("duration: %w", err)
		}
	}
	return nil
}

// Millicores is a demand in cores that a person gave.
func Millicores(cores float64) (int64, error) {
	millicores := math.Round(cores * 1000)
	if !(millicores >= 0 && millicores <= float64(cluster.MaxAmount)) || math.Abs(cores*1000-millicores) > 1e-6*max(millicores, 1) {
		return 0, fmt.Errorf("%v: allowed are multiples of 0.001 up to %d", cores, cluster.MaxAmount/1000)
	}
	return int64(millicores), nil
}

// CheckEnv refuses what no environment can hold.
func CheckEnv(name, value string) error {
	if name == "" || strings.ContainsAny(name, "=\x00") || strings.IndexByte(value, 0) >= 0 {
		return fmt.Errorf("environment variable %.80q: a name without = is expected, and nothing with a zero byte", name)
	}
	return nil
}
