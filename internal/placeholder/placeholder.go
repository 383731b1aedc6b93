// Package placeholder replaces {} and its like in the arguments of a command, as GNU parallel does.
package placeholder

import (
	"regexp"
	"strconv"
	"strings"
)

// pattern is {#}, or {N} of list N or of all lists, as it is or with a form.
var pattern = regexp.MustCompile(`\{(?:#|([1-9][0-9]{0,5})?(//|/\.|/|\.)?)\}`)

// forms are what can be made of an entry.
var forms = map[string]func(string) string{
	"":   func(s string) string { return s },
	".":  withoutExtension,
	"/":  base,
	"//": dir,
	"/.": func(s string) string { return withoutExtension(base(s)) },
}

// base is what is behind the last slash: nothing, of a folder that ends in one.
func base(s string) string { return s[strings.LastIndexByte(s, '/')+1:] }

// dir is what is before the last slash but those at the end. Nothing else is made of it: ./-x must not become -x, nor a/../b
// another folder where a is a link.
func dir(s string) string {
	cut := strings.LastIndexByte(strings.TrimRight(s, "/"), '/')
	switch folder := strings.TrimRight(s[:cut+1], "/"); {
	case folder != "":
		return folder
	case strings.HasPrefix(s, "/"):
		return "/"
	}
	return "."
}

// withoutExtension leaves the name of a hidden file whole, which GNU parallel takes for an extension.
func withoutExtension(s string) string {
	if name := base(s); strings.LastIndexByte(name, '.') > 0 {
		return s[:strings.LastIndexByte(s, '.')]
	}
	return s
}

// Any reports whether some argument has a placeholder.
func Any(argv []string) bool {
	for _, a := range argv {
		if pattern.MatchString(a) {
			return true
		}
	}
	return false
}

// Entries reports whether some argument has a place for an entry: {#} is none.
func Entries(argv []string) bool {
	for _, a := range argv {
		for _, found := range pattern.FindAllString(a, -1) {
			if found != "{#}" {
				return true
			}
		}
	}
	return false
}

// Highest is the highest N of an {N} among the arguments; 0: there is none.
func Highest(argv []string) (highest int) {
	for _, a := range argv {
		for _, m := range pattern.FindAllStringSubmatch(a, -1) {
			n, _ := strconv.Atoi(m[1]) // no number is 0
			highest = max(highest, n)
		}
	}
	return highest
}

// Expand returns the arguments of the task that has an index and an entry of each list. An argument that is nothing but
// {} or a form of it becomes as many as there are lists; within an argument their entries have spaces between them. What
// names a list that does not exist stays as it is.
func Expand(argv []string, index int64, entries []string) []string {
	expanded := make([]string, 0, len(argv)+len(entries))
	for _, a := range argv {
		if m := pattern.FindStringSubmatch(a); m != nil && m[0] == a && a != "{#}" && m[1] == "" {
			for _, entry := range entries {
				expanded = append(expanded, forms[m[2]](entry))
			}
			continue
		}
		expanded = append(expanded, within(a, index, entries))
	}
	return expanded
}

// within replaces the placeholders of one argument.
func within(argument string, index int64, entries []string) string {
	return pattern.ReplaceAllStringFunc(argument, func(found string) string {
		m := pattern.FindStringSubmatch(found)
		n, _ := strconv.Atoi(m[1])
		switch {
		case found == "{#}":
			return strconv.FormatInt(index, 10)
		case n > len(entries):
			return found
		case n > 0:
			return forms[m[2]](entries[n-1])
		}
		all := make([]string, len(entries))
		for i, entry := range entries {
			all[i] = forms[m[2]](entry)
		}
		return strings.Join(all, " ")
	})
}
