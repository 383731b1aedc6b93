package rpc

import (
	"context"
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

// stack builds the one protocol stack that clients and servers share: binary protocol over frames
// over a buffer. Only frames bound a message before its bytes are believed, and only the buffer
// makes one write out of a frame's length and its body.
func stack(t thrift.TTransport, maxMessageBytes int) thrift.TProtocol {
	strict := true // refuses the unversioned messages of very old peers, and most garbage
	conf := &thrift.TConfiguration{
		MaxMessageSize:     int32(min(maxMessageBytes, 1<<30)),
		MaxFrameSize:       int32(min(maxMessageBytes, 1<<30)),
		MaxContainerSize:   maxContainer,
		TBinaryStrictRead:  &strict,
		TBinaryStrictWrite: &strict,
	}
	framed := thrift.NewTFramedTransportConf(thrift.NewTBufferedTransport(t, socketBuffer), conf)
	return thrift.NewTBinaryProtocolConf(framed, conf)
}

// link adapts a connection to the library's transport interface. Deadlines are the owner's
// business: the library's own socket would move them at every read.
type link struct{ net.Conn }

func (link) Open() error                 { return nil }
func (link) IsOpen() bool                { return true }
func (link) Flush(context.Context) error { return nil }
func (link) RemainingBytes() uint64      { return thrift.UnknownRemainingBytes }
