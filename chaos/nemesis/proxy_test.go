package nemesis

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"time"
)

// detour is what a proxy in front of a service does with the messages that pass. It runs at the service's address, as a process
// of its own.
type detour struct {
	Listen int           `json:"listen"` // port
	To     string        `json:"to"`     // address of the service
	Delay  time.Duration `json:"delay"`  // of every message, in each direction
	Share  float64       `json:"share"`  // of the requests, that arrive twice
	Seed   uint64        `json:"seed"`
}

// detourVariable has this program be a proxy.
const detourVariable = "DODOOR_CHAOS_DETOUR"

// serveDetour is what that program does.
func serveDetour(text string) error {
	var d detour
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", d.Listen))
	if err != nil {
		return err
	}
	for n := uint64(0); ; n++ {
		client, err := listener.Accept()
		if err != nil {
			return err
		}
		go d.join(client, dice(d.Seed, n))
	}
}

// dice are those of a connection.
func dice(seed, connection uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, connection)) }

// join carries messages between a client and the service until one of them hangs up.
func (d *detour) join(client net.Conn, draw *rand.Rand) {
	defer client.Close()
	service, err := net.DialTimeout("tcp", d.To, patience)
	if err != nil {
		return
	}
	defer service.Close()
	var twin net.Conn // to which the second one of a request goes
	if d.Share > 0 {
		if twin, err = net.DialTimeout("tcp", d.To, patience); err != nil {
			return
		}
		defer twin.Close()
		go func() { _, _ = io.Copy(io.Discard, twin) }() // nobody hears that answer
	}
	ended := make(chan struct{}, 2)
	carry := func(from, to, twin net.Conn) {
		defer func() { ended <- struct{}{} }()
		relay(from, d.Delay, func(frame []byte) error {
			if twin != nil && draw.Float64() < d.Share {
				if _, err := twin.Write(frame); err != nil {
					return err
				}
			}
			_, err := to.Write(frame)
			return err
		})
	}
	go carry(client, service, twin)
	go carry(service, client, nil)
	<-ended
}

// relay reads messages and writes each a delay later. It returns when either fails.
func relay(from io.Reader, delay time.Duration, write func(frame []byte) error) {
	type message struct {
		frame []byte
		at    time.Time
	}
	underWay := make(chan message, 1024)
	broken := make(chan struct{})
	var writing sync.WaitGroup
	writing.Go(func() {
		defer close(broken)
		for m := range underWay {
			<-time.After(time.Until(m.at))
			if write(m.frame) != nil {
				return
			}
		}
	})
	defer writing.Wait()
	defer close(underWay)
	for {
		frame, err := readFrame(from)
		if err != nil {
			return
		}
		select {
		case underWay <- message{frame, time.Now().Add(delay)}:
		case <-broken:
			return
		}
	}
}

// maxFrame is more than any service sends.
const maxFrame = 64 << 20

// readFrame returns a message with the length before it, as Thrift's framed transport has them.
func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxFrame {
		return nil, fmt.Errorf("a message of %d bytes", size)
	}
	frame := append(length[:], make([]byte, size)...)
	_, err := io.ReadFull(from, frame[len(length):])
	return frame, err
}
