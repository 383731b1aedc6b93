package rpc

import (
	"math"

	"github.com/apache/thrift/lib/go/thrift"
)

// Generated handlers otherwise start a goroutine per request that polls the connection every 5 ms,
// which costs up to a third of the throughput.
func init() { thrift.ServerConnectivityCheckInterval = 0 }

const maxContainer = 1 << 18 // elements of any list or map, before a single one is read

// stack builds the one protocol stack that clients and servers share: compact protocol over frames. Only
// frames bound a message before its bytes are believed. The compact protocol takes a third of the binary
// one's bytes and no more time (BenchmarkProtocols).
func stack(f *frames, maxMessageBytes int) thrift.TProtocol {
	size := int32(min(maxMessageBytes, math.MaxInt32))
	f.limit = int(size)
	return thrift.NewTCompactProtocolConf(f, &thrift.TConfiguration{MaxMessageSize: size, MaxFrameSize: size, MaxContainerSize: maxContainer})
}
