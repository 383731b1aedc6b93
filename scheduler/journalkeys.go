package scheduler

import (
	"encoding/binary"
	"strconv"
)

// What a journal holds, by the first letter of the key. Every value begins with the layout that it is written in.
const (
	keyMeta     = "m" // keptMeta
	keyWorker   = "w" // and its name: cluster.Node, as it was when something was placed there
	keyTemplate = "c" // and its digest: cluster.Template
	keyJob      = "j" // and its id: keptJob
	keyEntry    = "e" // and the job's id with its length before it, and the index: keptEntry of a task that has ended
	keyTask     = "t" // and its id: openTask
	keyResult   = "r" // and the cursor: keptResult that nobody has acknowledged
)

// layout is the version of all values. One that is not known is not guessed at; those before it are read.
const layout uint8 = 2

// usersSince is the first layout that says whose tasks and jobs they are.
const usersSince uint8 = 2

func taskKey(id string) string         { return keyTask + id }
func workerKey(name string) string     { return keyWorker + name }
func templateKey(digest string) string { return keyTemplate + digest }
func jobKey(id string) string          { return keyJob + id }

// resultKey has the cursors in order.
func resultKey(cursor int64) string {
	var key [1 + 8]byte
	key[0] = keyResult[0]
	binary.BigEndian.PutUint64(key[1:], uint64(cursor))
	return string(key[:])
}

// cursorOf is the inverse, less the first letter; 0: it is none.
func cursorOf(rest string) int64 {
	if len(rest) != 8 {
		return 0
	}
	return int64(binary.BigEndian.Uint64([]byte(rest)))
}

// entriesKey is what the keys of all entries of a job begin with, and of no other.
func entriesKey(job string) string { return keyEntry + strconv.Itoa(len(job)) + " " + job }

func entryKey(job string, index int64) string {
	return string(binary.BigEndian.AppendUint64([]byte(entriesKey(job)), uint64(index)))
}

// entryOf is the inverse of entryKey, less the first letter.
func entryOf(rest string) (job string, index int64, ok bool) {
	digits := 0
	for digits < len(rest) && rest[digits] != ' ' {
		digits++
	}
	n, err := strconv.Atoi(rest[:digits])
	if err != nil || n < 0 || len(rest) != digits+1+n+8 {
		return "", 0, false
	}
	rest = rest[digits+1:]
	return rest[:n], int64(binary.BigEndian.Uint64([]byte(rest[n:]))), true
}
