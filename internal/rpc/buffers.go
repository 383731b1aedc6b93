package rpc

import (
	"math/bits"
	"sync"
)

// buffers are what messages that are larger than a connection keeps have been through: powers of two. What messages grow through is no
// garbage then, of which there may be as much again before it is collected. A thousand results take 150 KB.
var buffers bufferPool

type bufferPool [pooledBits - pooledFrom + 1]sync.Pool

const (
	pooledFrom = 12 // 4 KiB
	pooledBits = 23 // 8 MiB
)

// of returns the pool of a size; nil: there is none.
func (p *bufferPool) of(size int) *sync.Pool {
	if b := bits.Len(uint(size)) - 1; size&(size-1) == 0 && b >= pooledFrom && b <= pooledBits {
		return &p[b-pooledFrom]
	}
	return nil
}

// take returns an empty buffer with so much room.
func (p *bufferPool) take(size int) []byte {
	if pool := p.of(size); pool != nil {
		if b, ok := pool.Get().(*[]byte); ok {
			return (*b)[:0]
		}
	}
	return make([]byte, 0, size)
}

// give takes a buffer back that nobody uses any more.
func (p *bufferPool) give(b []byte) {
	if pool := p.of(cap(b)); pool != nil {
		pool.Put(&b)
	}
}
