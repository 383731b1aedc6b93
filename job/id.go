package job

import (
	"strconv"
	"strings"
	"time"
)

// alphabet is Crockford's base 32 in small letters: in the order of bytes, and without what looks alike.
const alphabet = "0123456789abcdefghjkmnpqrstvwxyz"

// The characters of an id that tell when it was made, in milliseconds, and those that tell it from others of that moment.
const (
	moments = 9
	dice    = 4
)

// NewID names a job that is made so long after the Unix epoch; random is anything. Names sort by time, and two of the
// same millisecond are the same once in a million times.
func NewID(now time.Duration, random uint64) string {
	var id [moments + dice]byte
	write := func(part []byte, n uint64) {
		for i := len(part) - 1; i >= 0; i-- {
			part[i] = alphabet[n%32]
			n /= 32
		}
	}
	write(id[:moments], uint64(max(now, 0)/time.Millisecond))
	write(id[moments:], random)
	return string(id[:])
}

// TaskID names a task of a job.
func TaskID(job string, index int64) string { return job + "." + strconv.FormatInt(index, 10) }

// ParseID takes a name apart: a job's, or a task's of a job, which has an index.
func ParseID(name string) (job string, index int64, isTask bool) {
	at := strings.LastIndexByte(name, '.')
	if at <= 0 {
		return name, 0, false
	}
	index, err := strconv.ParseInt(name[at+1:], 10, 64)
	if err != nil || index < 0 || TaskID(name[:at], index) != name {
		return name, 0, false
	}
	return name[:at], index, true
}
