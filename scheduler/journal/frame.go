package journal

import (
	"encoding/binary"
	"hash/crc32"
)

// A frame is a group on disk: a head of fixed size, and the changes, masked: no run of zeros is ever written, so that one tells of a
// sector that has never reached the disk.
//
//	magic  4 bytes
//	length 4 bytes, of the changes
//	number 8 bytes, of the group: 1 more than that of the group before it
//	sum    4 bytes: CRC-32C of the masked changes and the head so far, begun with the sum of the frame before it
//	check  4 bytes: CRC-32C of the head so far, begun with the salt of the segment
//
// The first frame of a segment is its header: it has the number of the segment's first group, and the salt alone, as it is, as its changes.
const (
	headSize   = 24
	headerSize = headSize + 4
	magic      = 0x1a6a6f44 // "Doj" and a byte that ends texts
	maxGroup   = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// frame is the head of a group.
type frame struct {
	length int
	number int64
	sum    uint32
}

// seal completes the frame that begins at text[0]: room for the head, and the changes behind it. It returns the sum, which the next
// frame goes on from.
func seal(text []byte, number int64, salt, before uint32) uint32 {
	head, changes := text[:headSize], text[headSize:]
	binary.LittleEndian.PutUint32(head, magic)
	binary.LittleEndian.PutUint32(head[4:], uint32(len(changes)))
	binary.LittleEndian.PutUint64(head[8:], uint64(number))
	sum := sumOf(head, changes, before)
	binary.LittleEndian.PutUint32(head[16:], sum)
	binary.LittleEndian.PutUint32(head[20:], crc32.Update(salt, castagnoli, head[:20]))
	return sum
}

func sumOf(head, changes []byte, before uint32) uint32 {
	return crc32.Update(crc32.Update(before, castagnoli, head[:16]), castagnoli, changes)
}

// mask makes changes look like chance, or undoes that: the stream is that of splitmix64, begun with what nobody who submits tasks can know.
func mask(changes []byte, salt uint32, number int64) { maskBehind(changes, salt, number, 0) }

// maskBlock is how many bytes a number of the stream masks.
const maskBlock = 8

// maskBehind masks changes that stand behind so many whole blocks of others in their group, or undoes that.
func maskBehind(changes []byte, salt uint32, number int64, blocks int) {
	state := (uint64(salt)<<32 ^ uint64(number)) + uint64(blocks)*maskStep
	next := func() uint64 {
		state += maskStep
		z := (state ^ state>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		return z ^ z>>31
	}
	for ; len(changes) >= maskBlock; changes = changes[maskBlock:] {
		binary.LittleEndian.PutUint64(changes, binary.LittleEndian.Uint64(changes)^next())
	}
	for i, last := 0, next(); i < len(changes); i++ {
		changes[i] ^= byte(last >> (8 * i))
	}
}

// maskStep is between two numbers of the stream's state.
const maskStep = 0x9e3779b97f4a7c15

// parseHead reads a head; false: these bytes are none.
func parseHead(head []byte, salt uint32) (f frame, ok bool) {
	if len(head) < headSize || binary.LittleEndian.Uint32(head) != magic ||
		binary.LittleEndian.Uint32(head[20:]) != crc32.Update(salt, castagnoli, head[:20]) {
		return f, false
	}
	return frame{int(binary.LittleEndian.Uint32(head[4:])), int64(binary.LittleEndian.Uint64(head[8:])),
		binary.LittleEndian.Uint32(head[16:])}, true
}

// newHeader returns the header of a segment, and the sum that its first group goes on from.
func newHeader(first int64, salt uint32) (text []byte, sum uint32) {
	text = binary.LittleEndian.AppendUint32(make([]byte, headSize, headerSize), salt)
	return text, seal(text, first, 0, 0)
}

// parseHeader is the inverse of newHeader.
func parseHeader(text []byte) (first int64, salt, sum uint32, ok bool) {
	f, ok := parseHead(text, 0)
	if !ok || f.length != headerSize-headSize || len(text) < headerSize || f.sum != sumOf(text[:headSize], text[headSize:headerSize], 0) {
		return 0, 0, 0, false
	}
	return f.number, binary.LittleEndian.Uint32(text[headSize:]), f.sum, true
}

// The kinds of changes.
const (
	putOne byte = iota + 1
	dropOne
	dropAll
	begins // the key is the number of the first group that is needed: what was before it may go
)

// appendChange packs one change. A value follows a put alone.
func appendChange(text []byte, kind byte, key string, value []byte) []byte {
	text = append(binary.AppendUvarint(append(text, kind), uint64(len(key))), key...)
	if kind == putOne {
		text = append(binary.AppendUvarint(text, uint64(len(value))), value...)
	}
	return text
}

// nextChange unpacks the first change of text; rest is what follows. false: there is no whole change.
func nextChange(text []byte) (kind byte, key, value, rest []byte, ok bool) {
	if len(text) == 0 {
		return 0, nil, nil, nil, false
	}
	kind = text[0]
	if key, rest, ok = nextBytes(text[1:]); ok && kind == putOne {
		value, rest, ok = nextBytes(rest)
	}
	return kind, key, value, rest, ok && kind >= putOne && kind <= begins
}

// keyOf packs a number as a key.
func keyOf(number int64) string {
	return string(binary.BigEndian.AppendUint64(nil, uint64(number)))
}

// numberOf is the inverse.
func numberOf(key []byte) (number int64, ok bool) {
	if len(key) != 8 {
		return 0, false
	}
	return int64(binary.BigEndian.Uint64(key)), true
}

func nextBytes(text []byte) (b, rest []byte, ok bool) {
	size, n := binary.Uvarint(text)
	if n <= 0 || size > uint64(len(text)-n) {
		return nil, nil, false
	}
	end := n + int(size)
	return text[n:end:end], text[end:], true
}
