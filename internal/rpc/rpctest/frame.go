package rpctest

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
)

const maxFrame = 64 << 20

// readFrame reads one framed message, its length included.
func readFrame(from io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(from, length[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(length[:])
	if size > maxFrame {
		return nil, fmt.Errorf("rpctest: a frame of %d bytes", size)
	}
	frame := append(make([]byte, 0, len(length)+int(size)), length[:]...)
	frame = frame[:cap(frame)]
	_, err := io.ReadFull(from, frame[len(length):])
	return frame, err
}

// read finds out what a framed message is about.
func (m *Message) read(frame []byte) (err error) {
	ctx := context.Background()
	body := thrift.NewTCompactProtocolConf(&thrift.TMemoryBuffer{Buffer: bytes.NewBuffer(frame[4:])}, nil)
	if m.Method, _, _, err = body.ReadMessageBegin(ctx); err != nil || m.Reply {
		return err
	}
	m.Task = ""
	switch m.Method {
	case "submit":
		var args dodoor.SchedulerServiceSubmitArgs
		if err = args.Read(ctx, body); err == nil && len(args.Request.Tasks) > 0 {
			m.Task = args.Request.Tasks[0].GetID()
		}
	case "probe":
		var args dodoor.WorkerServiceProbeArgs
		err = args.Read(ctx, body)
		m.Task = args.Request.GetTaskID()
	case "cancel":
		var args dodoor.WorkerServiceCancelArgs
		err = args.Read(ctx, body)
		m.Task = args.TaskID
	}
	return err
}
