package conf

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"time"
)

var durationTypes = []reflect.Type{reflect.TypeFor[Duration](), reflect.TypeFor[time.Duration]()}

// A binder stores a decoded TOML value in a Go value of the expected shape. The library's own
// decoding stops at the first mismatch and ignores the case of keys; this one reports every
// mismatch, by path, and leaves the defaults there.
type binder struct{ report *report }

// bind stores data, which came from path, in v.
func (b binder) bind(v reflect.Value, data any, path string) {
	if slices.Contains(durationTypes, v.Type()) {
		b.duration(v, data, path)
		return
	}
	switch v.Kind() {
	case reflect.Struct, reflect.Pointer:
		b.table(v, data, path)
	case reflect.Slice:
		b.list(v, data, path)
	case reflect.Map:
		if v.Type().Elem().Kind() == reflect.Pointer {
			b.tables(v, data, path)
		} else {
			b.amounts(v, data, path)
		}
	case reflect.String:
		if s, ok := scalar[string](b, data, path, "a string"); ok {
			v.SetString(s)
		}
	case reflect.Bool:
		if s, ok := scalar[bool](b, data, path, "true or false"); ok {
			v.SetBool(s)
		}
	case reflect.Float64:
		if f, ok := b.number(data, path); ok {
			v.SetFloat(f)
		}
	case reflect.Uint64:
		i, ok := scalar[int64](b, data, path, "an integer")
		if ok && i < 0 {
			b.report.add(path, "must be at least 0, found %d", i)
		} else if ok {
			v.SetUint(uint64(i))
		}
	default:
		i, ok := scalar[int64](b, data, path, "an integer")
		if ok && v.OverflowInt(i) {
			b.report.add(path, "must fit %d bits, found %d", v.Type().Bits(), i)
		} else if ok {
			v.SetInt(i)
		}
	}
}

func scalar[T any](b binder, data any, path, want string) (T, bool) {
	value, ok := data.(T)
	if !ok {
		b.report.add(path, "must be %s, found %s", want, describe(data))
	}
	return value, ok
}

func (b binder) number(data any, path string) (float64, bool) {
	if i, ok := data.(int64); ok {
		return float64(i), true
	}
	f, ok := scalar[float64](b, data, path, "a number")
	if ok && (math.IsNaN(f) || math.IsInf(f, 0)) {
		b.report.add(path, "must be a finite number, found %v", f)
		return 0, false
	}
	return f, ok
}

func (b binder) duration(v reflect.Value, data any, path string) {
	text, ok := data.(string)
	if !ok {
		why := ""
		if _, isInt := data.(int64); isInt {
			why = " (a bare number has no unit)"
		}
		b.report.add(path, `must be a duration such as "250ms", "1.5s" or "10m", found %s%s`, describe(data), why)
		return
	}
	var d Duration
	if err := d.UnmarshalText([]byte(text)); err != nil {
		b.report.add(path, "%v", err)
		return
	}
	v.SetInt(int64(d))
}

// table stores a TOML table in a struct, key by key.
func (b binder) table(v reflect.Value, data any, path string) {
	table, _ := scalar[map[string]any](b, data, path, "a table")
	for key, value := range table {
		field, known := slotOf(v, key)
		if !known {
			b.report.add(join(path, key), "%s", unknownKey(key, keysOf(v)))
			continue
		}
		b.bind(field, value, join(path, key))
	}
}

// list stores a TOML array in a slice; an empty one is nil. Elements start from their own defaults.
func (b binder) list(v reflect.Value, data any, path string) {
	elements, ok := listOf(data)
	if !ok {
		want := "a list of strings"
		if v.Type().Elem().Kind() == reflect.Struct {
			want = "a list of tables"
		}
		b.report.add(path, "must be %s, found %s", want, describe(data))
		return
	}
	v.SetZero()
	for i, element := range elements {
		b.append(v, element, index(path, i))
	}
}

// append binds one more element of the list v.
func (b binder) append(v reflect.Value, data any, path string) {
	v.Set(reflect.Append(v, b.element(v.Type(), data, path)))
}

// element binds an element of a list of the given type.
func (b binder) element(list reflect.Type, data any, path string) reflect.Value {
	element := reflect.New(list.Elem())
	if d, ok := element.Interface().(defaulter); ok {
		d.setDefaults()
	}
	b.bind(element.Elem(), data, path)
	return element.Elem()
}

// tables stores a TOML table of tables in a map from names to them; an empty one is nil.
func (b binder) tables(v reflect.Value, data any, path string) {
	all, _ := scalar[map[string]any](b, data, path, "a table of tables")
	v.SetZero()
	for name, table := range all {
		b.bind(entryOf(v, name), table, join(path, name))
	}
}

// entryOf returns the table that a map has under a name; a new one starts from its own defaults.
func entryOf(v reflect.Value, name string) reflect.Value {
	if v.IsNil() {
		v.Set(reflect.MakeMap(v.Type()))
	}
	key := reflect.ValueOf(name)
	if there := v.MapIndex(key); there.IsValid() {
		return there
	}
	entry := reflect.New(v.Type().Elem().Elem())
	if n, ok := entry.Interface().(namer); ok {
		n.setName(name)
	}
	v.SetMapIndex(key, entry)
	return entry
}

// amounts stores a TOML table in a map from names to numbers; an empty one is nil.
func (b binder) amounts(v reflect.Value, data any, path string) {
	table, _ := scalar[map[string]any](b, data, path, "a table of numbers")
	amounts := make(map[string]float64, len(table))
	for name, value := range table {
		if f, ok := b.number(value, join(path, name)); ok {
			amounts[name] = f
		}
	}
	v.SetZero()
	if len(amounts) > 0 {
		v.Set(reflect.ValueOf(amounts))
	}
}

func listOf(data any) ([]any, bool) {
	switch list := data.(type) {
	case []any:
		return list, true
	case []map[string]any:
		out := make([]any, len(list))
		for i := range list {
			out[i] = list[i]
		}
		return out, true
	}
	return nil, false
}

// describe names what a TOML value is, for people.
func describe(data any) string {
	switch value := data.(type) {
	case string:
		return fmt.Sprintf("string %.80q", value)
	case int64:
		return fmt.Sprintf("integer %d", value)
	case float64:
		return fmt.Sprintf("number %v", value)
	case bool:
		return fmt.Sprintf("boolean %t", value)
	case time.Time:
		return "a date or time"
	case map[string]any:
		return "a table"
	}
	return "a list"
}
