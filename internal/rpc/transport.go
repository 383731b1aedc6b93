package rpc

import (
	"math"

	"github.com/apache/thrift/lib/go/thrift"
)

// Generated handlers otherwise start a goroutine per request that polls the connection every 5 ms,
// which costs up to a third of the throughput.
func init() { thrift.ServerConnectivityCheckInterval = 0 }

// stack builds the one protocol stack that clients and servers share: compact protocol over frames. Only
// frames bound a message before its bytes are believed. The compact protocol takes a third of the binary
// one's bytes and no more time (BenchmarkProtocols).
func stack(f *frames, maxMessageBytes int) *bounded {
	f.limit = min(maxMessageBytes, math.MaxInt32)
	size := int32(f.limit)
	return &bounded{frames: f, TCompactProtocol: thrift.NewTCompactProtocolConf(f, &thrift.TConfiguration{
		MaxMessageSize: min(size, maxString), // the library's bound of a string
		MaxFrameSize:   size, MaxContainerSize: maxContainer,
	})}
}
