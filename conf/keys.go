package conf

import (
	"reflect"
	"strings"
	"sync"

	"dodoor/scheduler"
)

// keyOf returns the TOML name of a field, or "" for an embedded struct, whose fields stand for it.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	return name
}

// A slot is what a table may hold under one key.
type slot struct {
	key   string
	value reflect.Value
}

// slotsOf lists what a table bound to v may hold: v is a struct, leads to one, or is the knobs of a policy.
func slotsOf(v reflect.Value) []slot {
	var slots []slot
	if knobs, ok := v.Interface().(scheduler.Knobs); ok {
		for _, k := range knobs.Table().Knobs {
			slots = append(slots, slot{k.Key, reflect.ValueOf(k.Value).Elem()})
		}
		return slots
	}
	v = reflect.Indirect(v)
	for _, f := range fieldsOf(v.Type()) {
		field := v.FieldByIndex(f.Index)
		if settings, ok := field.Interface().(scheduler.Settings); ok {
			for _, knobs := range settings {
				slots = append(slots, slot{knobs.Table().Name, reflect.ValueOf(knobs)})
			}
		} else if key := keyOf(f); key != "" {
			slots = append(slots, slot{key, field})
		}
	}
	return slots
}

var fields sync.Map // by type

// fieldsOf is reflect.VisibleFields, which takes long, once for every type.
func fieldsOf(t reflect.Type) []reflect.StructField {
	if known, ok := fields.Load(t); ok {
		return known.([]reflect.StructField)
	}
	all := reflect.VisibleFields(t)
	fields.Store(t, all)
	return all
}

// keysOf lists the keys that a table bound to v may hold.
func keysOf(v reflect.Value) []string {
	var keys []string
	for _, s := range slotsOf(v) {
		keys = append(keys, s.key)
	}
	return keys
}

// slotOf returns what key names in v, exactly.
func slotOf(v reflect.Value, key string) (reflect.Value, bool) {
	for _, s := range slotsOf(v) {
		if s.key == key {
			return s.value, true
		}
	}
	return reflect.Value{}, false
}

// unknownKey says what to write instead of key.
func unknownKey(key string, known []string) string {
	for _, k := range known {
		if strings.EqualFold(k, key) {
			return "unknown key: upper and lower case differ, did you mean " + k + "?"
		}
	}
	if k, ok := nearest(key, known); ok {
		return "unknown key: did you mean " + k + "?"
	}
	return "unknown key: allowed here are " + strings.Join(known, ", ")
}

// nearest returns the known word that a typing slip would turn into word: at most a third of its
// letters differ.
func nearest(word string, known []string) (string, bool) {
	best, distance := "", min(len(word)-1, max(1, len(word)/3))+1
	for _, k := range known {
		if d := editDistance(word, k); d < distance {
			best, distance = k, d
		}
	}
	return best, best != ""
}

// editDistance is Levenshtein's, in bytes.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			substitute := diagonal
			if a[i] != b[j] {
				substitute++
			}
			diagonal = row[j+1]
			row[j+1] = min(substitute, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// listed joins names for an error message.
func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
