package conf

import (
	"maps"
	"reflect"
	"slices"
)

// Base is a configuration that has been read, of which overrides make many.
type Base struct {
	config *Config
	report *report
}

// Read reads what Load does, but for the overrides. Its error is of texts that cannot be read; what is wrong with a
// value, With says.
func Read(profileOrPath string, typeFiles ...string) (*Base, error) {
	main, open, err := find(profileOrPath)
	if err != nil {
		return nil, err
	}
	var types []source
	for _, name := range typeFiles {
		from, err := openTypes(name)
		if err != nil {
			return nil, err
		}
		types = append(types, from)
	}
	return read(main, open, types...)
}

func read(main source, open opener, types ...source) (*Base, error) {
	r := newReport(main.name)
	doc, ok := r.parse(main, 0)
	if !ok {
		return nil, r.err(nil)
	}
	for path, line := range doc.lines {
		r.origins[path] = origin{0, main.name, line}
	}
	file := layout{Config: *Default()}
	binder{r}.bind(reflect.ValueOf(&file).Elem(), doc.tree, "")
	c := &file.Config
	for i, name := range file.Include {
		r.include(c, i, file.Include[:i], name, open)
	}
	first := len(file.Include) + 1
	for i, from := range types {
		r.supply(c, from, first+i, first)
	}
	return &Base{c, r}, nil
}

// With applies overrides in their order, each "section.key=value", and validates the result. Its error joins a
// Problem for everything that is wrong.
func (b *Base) With(sets []string) (*Config, error) {
	c := duplicate(reflect.ValueOf(b.config)).Interface().(*Config)
	r := &report{main: b.report.main, origins: maps.Clone(b.report.origins), blamed: maps.Clone(b.report.blamed),
		findings: slices.Clone(b.report.findings)}
	for i, set := range sets {
		r.set(c, set, origin{rank: overrideRank + i, name: "-set " + printable(set)})
	}
	c.settle(r)
	validate(c, r)
	if err := r.err(c.labels()); err != nil {
		return nil, err
	}
	return c, nil
}

// duplicate copies a value and all that it leads to.
func duplicate(v reflect.Value) reflect.Value {
	to := reflect.New(v.Type()).Elem()
	to.Set(v)
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			to.Set(reflect.New(v.Type().Elem()))
			to.Elem().Set(duplicate(v.Elem()))
		}
	case reflect.Interface:
		to.Set(duplicate(v.Elem()))
	case reflect.Struct:
		for i := range v.NumField() {
			if field := to.Field(i); field.CanSet() {
				field.Set(duplicate(v.Field(i)))
			}
		}
	case reflect.Slice:
		if !v.IsNil() {
			to.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
			for i := range v.Len() {
				to.Index(i).Set(duplicate(v.Index(i)))
			}
		}
	case reflect.Map:
		if !v.IsNil() {
			to.Set(reflect.MakeMapWithSize(v.Type(), v.Len()))
			for _, key := range v.MapKeys() {
				to.SetMapIndex(key, duplicate(v.MapIndex(key)))
			}
		}
	}
	return to
}
