package procfs

import (
	"fmt"
	"net/url"
	"os"
	"strconv"
	"strings"
)

// OwnerName names this process of a worker like no other before it since the machine's boot, for folders:
// <worker>.<pid>.<start in clock ticks>.
func OwnerName(worker string) (string, error) {
	started, err := startOf(os.Getpid())
	if err != nil {
		return "", fmt.Errorf("the start of this process: %w", err)
	}
	return fmt.Sprintf("%s.%d.%d", url.PathEscape(worker), os.Getpid(), started), nil
}

// orphaned reports whether a name is that of a process of a worker, and the process is gone.
func orphaned(name, worker string) bool {
	rest, started, dotted := cutLast(name, ".")
	escaped, pid, dottedToo := cutLast(rest, ".")
	if !dotted || !dottedToo || escaped != url.PathEscape(worker) {
		return false
	}
	number, err := strconv.Atoi(pid)
	ticks, alsoErr := strconv.ParseInt(started, 10, 64)
	if err != nil || alsoErr != nil {
		return false
	}
	now, err := startOf(number)
	return err != nil || now != ticks
}

func cutLast(s, separator string) (before, after string, found bool) {
	i := strings.LastIndex(s, separator)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(separator):], true
}

// Orphans lists the folders in another that a process of the worker made which is gone. The owner of a folder, as in
// OwnerName, follows from its name; it is empty for what is not a worker's.
func Orphans(folder, worker string, owner func(name string) string) (names []string) {
	entries, _ := os.ReadDir(folder)
	for _, entry := range entries {
		if entry.IsDir() && orphaned(owner(entry.Name()), worker) {
			names = append(names, entry.Name())
		}
	}
	return names
}
