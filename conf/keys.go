package conf

import (
	"reflect"
	"strings"
)

// keyOf returns the TOML name of a field, or "" for an embedded struct, whose fields stand for it.
func keyOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("toml"), ",")
	return name
}

// keysOf lists the keys that a table bound to a struct of type t may hold.
func keysOf(t reflect.Type) []string {
	var keys []string
	for _, f := range reflect.VisibleFields(t) {
		if key := keyOf(f); key != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// fieldOf returns the field of v that key names, exactly.
func fieldOf(v reflect.Value, key string) (reflect.Value, bool) {
	for _, f := range reflect.VisibleFields(v.Type()) {
		if key != "" && keyOf(f) == key {
			return v.FieldByIndex(f.Index), true
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
