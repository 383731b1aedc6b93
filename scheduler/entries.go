package scheduler

import "encoding/binary"

// entries is what {} and its like stand for in a command, as one string: a scheduler may keep a million of them. A single entry
// is itself; of several, which its batch says, each has its length before it.
type entries string

func packEntries(list []string) entries {
	switch len(list) {
	case 0:
		return ""
	case 1:
		return entries(list[0])
	}
	var packed []byte
	for _, entry := range list {
		packed = append(binary.AppendUvarint(packed, uint64(len(entry))), entry...)
	}
	return entries(packed)
}

// are reports whether they are n, each whole.
func (e entries) are(n int) bool {
	if n <= 1 {
		return n == 1 || n == 0 && e == ""
	}
	for ; n > 0; n-- {
		length, size := binary.Uvarint([]byte(e[:min(len(e), binary.MaxVarintLen64)]))
		if size <= 0 || length > uint64(len(e)-size) {
			return false
		}
		e = e[size+int(length):]
	}
	return e == ""
}

// list returns the n entries.
func (e entries) list(n int) []string {
	switch n {
	case 0:
		return nil
	case 1:
		return []string{string(e)}
	}
	list := make([]string, n)
	for i := range list {
		length, size := binary.Uvarint([]byte(e[:min(len(e), binary.MaxVarintLen64)]))
		list[i] = string(e[size : size+int(length)])
		e = e[size+int(length):]
	}
	return list
}
