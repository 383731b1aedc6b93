package rpc

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"
)

// Limits bound what peers can make a server hold or do before anybody knows what they want. A peer is an address, and once it
// has proved who it is, an identity. docs/security.md#bounds gives the reasons for the figures. A field that is zero (or less)
// takes its value from defaultLimits.
type Limits struct {
	PeerConnections int           // of one peer
	PeerPolls       int           // long polls of one peer that wait at once
	FirstMessage    time.Duration // handshake and first whole message of a connection
	RequestRate     int           // requests of one peer in a second; as many may come at once
	InFlight        int64         // bytes of messages that are arriving, being answered, or leaving; of all peers
	Decoded         int64         // bytes that messages have become which are being answered; of all peers
}

// defaultLimits are those of a server for so many connections, whose messages have so many bytes at most.
func defaultLimits(connections, message int) Limits {
	return Limits{
		PeerConnections: max(connections/2, 1),
		PeerPolls:       max(connections/4, leastPolls),
		FirstMessage:    10 * time.Second,
		RequestRate:     100_000,
		InFlight:        int64(message) + 4<<20,
		Decoded:         max(4*int64(message), 32<<20),
	}
}

// filled returns l with d's values where it has none.
func (l Limits) filled(d Limits) Limits {
	l.PeerConnections = cmp.Or(l.PeerConnections, d.PeerConnections)
	l.PeerPolls = cmp.Or(l.PeerPolls, d.PeerPolls)
	l.FirstMessage = cmp.Or(l.FirstMessage, d.FirstMessage)
	l.RequestRate = cmp.Or(l.RequestRate, d.RequestRate)
	l.InFlight = cmp.Or(l.InFlight, d.InFlight)
	l.Decoded = cmp.Or(l.Decoded, d.Decoded)
	return l
}

const (
	maxContainer   = 1 << 18 // elements of any list or map, before a single one is read
	maxString      = 2 << 20 // bytes of any string: the longest is a template's standard input
	bytesPerStruct = 8       // a message may hold a struct for so many bytes that it may have: on average every one has more
	leastBytes     = 4       // of each struct in a list of more than spareStructs: an empty one is no news
	spareStructs   = 64
	decodedStruct  = 256 // bytes that a struct and what it points to take in memory, about
	chargedStructs = 256 // that are charged at once
	decodedElement = 16  // the same of an element of a list of others
	decodedEntry   = 48  // and of a map's
	spareElements  = 64  // of a list or a map, that are not charged
	leastPolls     = 64  // of one peer, however few connections there may be

	// maxPollBytes is of a long poll, and what follows it: while it waits its connection holds no more than an idle one may keep.
	maxPollBytes = keptBytes - lengthBytes

	anotherLine = 10 * time.Second
)

// errInFlight says that a message was given up because there are too many of them.
var errInFlight = errors.New("too many bytes are under way")

// warnings log who exceeds a bound: of each bound at most one line in ten seconds.
type warnings struct {
	log *slog.Logger

	mu   sync.Mutex
	next [numEvents]time.Time // no line before
	kept [numEvents]int       // that were not written
}

func (l *warnings) write(bound Event, who string, why string) {
	now := time.Now()
	l.mu.Lock()
	if l.kept[bound]++; now.Before(l.next[bound]) {
		l.mu.Unlock()
		return
	}
	times := l.kept[bound]
	l.kept[bound], l.next[bound] = 0, now.Add(anotherLine)
	l.mu.Unlock()
	l.log.Warn("a bound was exceeded", "bound", bound, "peer", who, "reason", why, "times", times)
}

// exceeded counts and tells that a peer went beyond a bound.
func (s *Server) exceeded(bound Event, who, format string, args ...any) {
	s.cfg.Observer.Event(bound)
	s.warnings.write(bound, who, fmt.Sprintf(format, args...))
}

// fewFiles is said once in a process, however many servers it has.
var fewFiles sync.Once

// countFiles warns where connections run out of open files before they reach their bound. The Go runtime has raised the limit to the
// hard one.
func (s *Server) countFiles() {
	var files syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &files); err != nil || files.Cur >= uint64(s.cfg.MaxConnections) {
		return
	}
	fewFiles.Do(func() {
		s.cfg.Log.Warn("this process may open fewer files than connections are allowed: raise its hard limit (ulimit -n, LimitNOFILE), or "+
			"lower rpc.max_connections", "files", files.Cur, "max_connections", s.cfg.MaxConnections)
	})
}
