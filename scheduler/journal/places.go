package journal

import (
	"iter"
	"strconv"
	"strings"
)

// place is where the newest value of a key stands, and what tells whether it still stands there as it was written.
type place struct {
	segment uint32 // its number in this process
	at      uint32 // offset of the change in the file
	size    uint32 // of the change
	sum     uint32 // CRC-32C of the change, without its mask
}

// places finds the place of every key. Keys of one family are together, so that to drop them costs what is dropped, and not a look at
// every key: a job is forgotten while a million others are kept.
type places struct {
	loose    map[string]place            // keys without a family
	families map[string]map[string]place // by what all keys of the family begin with
	count    int
	live     int64 // bytes of the changes that are named
}

func newPlaces() places {
	return places{loose: map[string]place{}, families: map[string]map[string]place{}}
}

// familyOf is what a key begins with if that is a letter, a length, a blank and so many bytes; else "". Whatever begins with a family is
// of it, and nothing else is.
func familyOf(key string) string {
	blank := strings.IndexByte(key, ' ')
	if blank < 2 {
		return ""
	}
	n, err := strconv.ParseUint(key[1:blank], 10, 16)
	if end := blank + 1 + int(n); err == nil && end <= len(key) {
		return key[:end]
	}
	return ""
}

// of is the map that has a key, if any has it.
func (p *places) of(key string) map[string]place {
	if family := familyOf(key); family != "" {
		return p.families[family]
	}
	return p.loose
}

// names says whether the newest value of a key is the change at this offset of a segment.
func (p *places) names(key string, segment, at uint32) bool {
	newest, ok := p.of(key)[key]
	return ok && newest.segment == segment && newest.at == at
}

func (p *places) put(key string, at place) {
	m := p.of(key)
	if m == nil {
		m = map[string]place{}
		p.families[familyOf(key)] = m
	}
	before, known := m[key]
	if !known {
		p.count++
	}
	p.live += int64(at.size) - int64(before.size)
	m[key] = at
}

func (p *places) drop(key string) {
	m := p.of(key)
	at, known := m[key]
	if !known {
		return
	}
	p.count, p.live = p.count-1, p.live-int64(at.size)
	delete(m, key)
	if family := familyOf(key); len(m) == 0 && family != "" {
		delete(p.families, family)
	}
}

func (p *places) dropAll(prefix string) {
	for m := range p.near(prefix) {
		for key := range m {
			if strings.HasPrefix(key, prefix) {
				p.drop(key)
			}
		}
	}
}

// near goes through the maps that may have keys with a prefix: one if it is a family, else all.
func (p *places) near(prefix string) iter.Seq[map[string]place] {
	return func(yield func(map[string]place) bool) {
		if prefix != "" && familyOf(prefix) == prefix {
			yield(p.families[prefix])
			return
		}
		if !yield(p.loose) {
			return
		}
		for _, m := range p.families {
			if !yield(m) {
				return
			}
		}
	}
}
