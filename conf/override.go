package conf

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/BurntSushi/toml"
)

// set applies one override, "section.key=value". Elements of lists of tables go by name:
// class.m510.count=10.
func (r *report) set(c *Config, text string, from origin) {
	key, raw, err := splitOverride(text)
	var value any
	if err == nil {
		value, err = overrideValue(raw)
	}
	var target reflect.Value
	var path, entry string
	if err == nil {
		target, path, entry, err = resolve(reflect.ValueOf(c).Elem(), key)
	}
	if err != nil {
		r.addAt(from, "", "%v", err)
		return
	}
	if entry == "" {
		r.override(path, from)
	} else {
		r.override(join(path, entry), from)
		value = withEntry(target, entry, value)
	}
	binder{r}.bind(target, value, path)
}

func splitOverride(text string) (key []string, value string, err error) {
	s := newScanner(text)
	key, ok := s.key()
	if !ok || !s.take("=") {
		return nil, "", errors.New("must have the form section.key=value")
	}
	return key, strings.TrimSpace(s.text[s.pos:]), nil
}

// overrideValue reads a TOML value; a word that is none stands for itself as a string, so that
// policy=dodoor and max_staleness=1s need no quotes inside the shell's.
func overrideValue(raw string) (any, error) {
	if raw == "" {
		return nil, errors.New(`no value: write "" for an empty string`)
	}
	text := "value = " + raw
	if scanLines(text).tooDeep > 0 {
		return nil, fmt.Errorf("nests more than %d deep", maxNesting)
	}
	var doc map[string]any
	_, err := toml.Decode(text, &doc)
	switch {
	case err == nil && len(doc) == 1:
		return doc["value"], nil
	case err == nil:
		return nil, errors.New("must be one value: repeat -set for further keys")
	case isWord(raw):
		return raw, nil
	}
	var parse toml.ParseError
	if errors.As(err, &parse) {
		return nil, fmt.Errorf("not a TOML value: %s", printable(parse.Message))
	}
	return nil, fmt.Errorf("not a TOML value: %w", err)
}

// isWord tells a bare word from a broken string, list or table.
func isWord(raw string) bool {
	return utf8.ValidString(raw) && !strings.ContainsAny(raw[:1], `"'[{`) && strings.IndexFunc(raw, unicode.IsControl) < 0
}

// resolve finds what key names below v: a field and its path, or a table of numbers and one entry
// in it.
func resolve(v reflect.Value, key []string) (target reflect.Value, path, entry string, err error) {
	for i, part := range key {
		switch v.Kind() {
		case reflect.Struct, reflect.Pointer:
			field, ok := slotOf(v, part)
			if !ok {
				return v, path, "", errors.New(unknownKey(part, keysOf(v)))
			}
			v, path = field, join(path, part)
			continue
		case reflect.Slice:
			if v.Type().Elem().Kind() != reflect.Struct {
				break
			}
			if !v.Type().Elem().Implements(reflect.TypeFor[named]()) {
				return v, path, "", fmt.Errorf("elements of %[1]s have no names: replace the whole list, %[1]s=[{...}]", toml.Key(key[:i]))
			}
			n, names := element(v, part)
			if n < 0 {
				return v, path, "", fmt.Errorf("no %s is called %q: there are %s", toml.Key(key[:i]), part, listed(names))
			}
			v, path = v.Index(n), index(path, n)
			continue
		case reflect.Map:
			if v.Type().Elem().Kind() == reflect.Pointer {
				v, path = entryOf(v, part), join(path, part)
				continue
			}
			if i == len(key)-1 {
				return v, path, part, nil
			}
		}
		return v, path, "", fmt.Errorf("%s holds no further keys", toml.Key(key[:i]))
	}
	return v, path, "", nil
}

// element returns the index of the element of a list of tables called name, or -1, and all names.
func element(list reflect.Value, name string) (int, []string) {
	var names []string
	for i := range list.Len() {
		table := list.Index(i).Interface().(named).tableName()
		if table == name {
			return i, nil
		}
		names = append(names, table)
	}
	return -1, names
}

// withEntry returns the table of numbers m with one entry replaced, as TOML would hold it.
func withEntry(m reflect.Value, name string, value any) map[string]any {
	table := map[string]any{name: value}
	for k, v := range m.Interface().(map[string]float64) {
		if k != name {
			table[k] = v
		}
	}
	return table
}
