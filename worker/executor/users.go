package executor

import (
	"slices"
	"strings"
)

// SplitUser takes an entry of a list of what commands may be apart: USER=ENTRY is for one user alone, everything else for
// everybody, with an empty user. Neither paths nor images have a = before their first slash.
func SplitUser(entry string) (user, of string) {
	before, after, found := strings.Cut(entry, "=")
	if !found || strings.Contains(before, "/") {
		return "", entry
	}
	return before, after
}

// EntriesFor returns the entries of such a list for a user: those for everybody, and the user's own. It may be the list itself.
func EntriesFor(list []string, user string) []string {
	if !slices.ContainsFunc(list, func(entry string) bool { u, _ := SplitUser(entry); return u != "" }) {
		return list
	}
	var entries []string
	for _, entry := range list {
		if of, e := SplitUser(entry); of == "" || of == user {
			entries = append(entries, e)
		}
	}
	return entries
}

// AllEntries returns the entries of such a list without their users, each once.
func AllEntries(list []string) []string {
	var entries []string
	for _, entry := range list {
		if _, e := SplitUser(entry); !slices.Contains(entries, e) {
			entries = append(entries, e)
		}
	}
	return entries
}

// Whom names a user for people.
func Whom(user string) string {
	if user == "" {
		return "users in general"
	}
	return "user " + user
}
