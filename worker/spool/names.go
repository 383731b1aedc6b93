package spool

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// The files of an attempt are JOB/TASK.ATTEMPT, below a folder of the user where one is known, and one of these.
var endings = [2]string{".out", ".err"}

// lossEnding is that of a file that says what was not kept.
const lossEnding = ".loss"

// noJob is the folder of tasks without a job, and ofUser what the folder of a user begins with: no name does, encoded.
const (
	noJob  = "-"
	ofUser = "~"
)

// mostOfName is how long a part of an encoded name is. A longer one goes on in a folder: no file may have more than 255.
const (
	mostOfName = 200
	goesOn     = "+"
)

// encode writes any name as a path below another: letters, digits and _ as they are, - and . unless the name begins with
// it, everything else as % and two digits.
func encode(name string) string {
	var b strings.Builder
	part := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		if b.Len()-part >= mostOfName {
			b.WriteString(goesOn + "/")
			part = b.Len()
		}
		if plain(c) && (b.Len() > part || c != '-' && c != '.') {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

func plain(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-' || c == '.'
}

// decode is the inverse of encode; it is false for what encode does not write.
func decode(path string) (name string, ok bool) {
	var b strings.Builder
	encoded := strings.ReplaceAll(path, goesOn+"/", "")
	for i := 0; i < len(encoded); i++ {
		if encoded[i] != '%' {
			b.WriteByte(encoded[i])
			continue
		}
		if i+2 >= len(encoded) {
			return "", false
		}
		c, err := strconv.ParseUint(encoded[i+1:i+3], 16, 8)
		if err != nil {
			return "", false
		}
		b.WriteByte(byte(c))
		i += 2
	}
	return b.String(), b.Len() > 0 && encode(b.String()) == path
}

// stem is the path of an attempt's files below the folder, up to their endings.
func stem(user, job, task string, number int) string {
	above, folder := "", noJob
	if user != "" {
		above = ofUser + encode(user)
	}
	if job != "" {
		folder = encode(job)
	}
	return filepath.Join(above, folder, encode(task)+"."+strconv.Itoa(number))
}

// parse is the inverse of stem with an ending.
func parse(path string) (user, job, task string, number int, ending string, ok bool) {
	cut := strings.LastIndexByte(path, '.')
	if cut < 0 {
		return
	}
	path, ending = path[:cut], path[cut:]
	if cut = strings.LastIndexByte(path, '.'); cut < 0 {
		return
	}
	number, err := strconv.Atoi(path[cut+1:])
	if err != nil || number < 1 || strconv.Itoa(number) != path[cut+1:] {
		return
	}
	folder, rest := split(path[:cut])
	if above, found := strings.CutPrefix(folder, ofUser); found {
		if user, ok = decode(above); !ok {
			return
		}
		folder, rest = split(rest)
	}
	if folder != noJob {
		if job, ok = decode(folder); !ok {
			return
		}
	}
	task, ok = decode(rest)
	return user, job, task, number, ending, ok
}

// split separates the folder of the job, which goes on where its name does, from what is below it.
func split(path string) (folder, rest string) {
	at := 0
	for {
		cut := strings.IndexByte(path[at:], '/')
		if cut < 0 {
			return path, ""
		}
		if at += cut; !strings.HasSuffix(path[:at], goesOn) {
			return path[:at], path[at+1:]
		}
		at++
	}
}
