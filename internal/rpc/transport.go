package rpc

import (
	"context"
	"math"
	"net"

	"github.com/apache/thrift/lib/go/thrift"
)

// Generated handlers otherwise start a goroutine per request that polls the connection every 5 ms,
// which costs up to a third of the throughput.
func init() { thrift.ServerConnectivityCheckInterval = 0 }

const (
	socketBuffer = 4096    // bytes; a whole message of a few tasks leaves in one write
	maxContainer = 1 << 18 // elements of any list or map, before a single one is read
)

// stack builds the one protocol stack that clients and servers share: compact protocol over frames
// over a buffer. Only frames bound a message before its bytes are believed, and only the buffer makes
// one write out of a frame's length and its body. The compact protocol takes a third of the binary
// one's bytes and no more time (BenchmarkProtocols).
func stack(t thrift.TTransport, maxMessageBytes int) thrift.TProtocol {
	size := int32(min(maxMessageBytes, math.MaxInt32))
	conf := &thrift.TConfiguration{MaxMessageSize: size, MaxFrameSize: size, MaxContainerSize: maxContainer}
	framed := thrift.NewTFramedTransportConf(thrift.NewTBufferedTransport(t, socketBuffer), conf)
	return thrift.NewTCompactProtocolConf(framed, conf)
}

// link adapts a connection to the library's transport interface. Deadlines are the owner's
// business: the library's own socket would move them at every read.
type link struct{ net.Conn }

func (link) Open() error                 { return nil }
func (link) IsOpen() bool                { return true }
func (link) Flush(context.Context) error { return nil }
func (link) RemainingBytes() uint64      { return thrift.UnknownRemainingBytes }
