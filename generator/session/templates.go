package session

import "sync"

// mostKnown bounds what is remembered: when there are more, they travel again.
const mostKnown = 4096

// templates are those that a scheduler has, by digest. The zero value is empty.
type templates struct {
	mu  sync.Mutex
	all map[string]bool
}

func (t *templates) has(digest string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.all[digest]
}

func (t *templates) add(digests map[string]bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil || len(t.all) > mostKnown {
		t.all = map[string]bool{}
	}
	for d := range digests {
		t.all[d] = true
	}
}

func (t *templates) remove(digest string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.all, digest)
}
