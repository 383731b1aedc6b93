package rpctest

import (
	"context"
	"encoding/binary"

	"github.com/apache/thrift/lib/go/thrift"

	"dodoor/gen-go/dodoor"
)

// Messages of peers that mean no good, or do not read what they asked for. Each is whole, its length included.

// AskSetup is a small request that every service answers.
func AskSetup() []byte { return request("setup", dodoor.NewSchedulerServiceSetupArgs()) }

// AskTasks asks a scheduler for many tasks: the answer is much larger than the question.
func AskTasks(most int32) []byte {
	return request("tasks", &dodoor.SchedulerServiceTasksArgs{Query: &dodoor.TaskQuery{Max: &most}})
}

// EmptyTasks submits so many tasks of which nothing is said: a byte each that would take a hundred in memory.
func EmptyTasks(n int) []byte {
	client, tasks := "client", make([]*dodoor.TaskSpec, n)
	for i := range tasks {
		tasks[i] = &dodoor.TaskSpec{}
	}
	return request("submit", &dodoor.SchedulerServiceSubmitArgs{Request: &dodoor.SubmitRequest{Client: &client, Tasks: tasks}})
}

// Claim is the length of a message that has so many bytes, and nothing of it.
func Claim(bytes uint32) []byte { return binary.BigEndian.AppendUint32(nil, bytes) }

// request cannot fail: it is written to memory.
func request(method string, args thrift.TStruct) []byte {
	buffer, ctx := thrift.NewTMemoryBuffer(), context.Background()
	p := thrift.NewTCompactProtocolConf(buffer, nil)
	_ = p.WriteMessageBegin(ctx, method, thrift.CALL, 1)
	_ = args.Write(ctx, p)
	_ = p.WriteMessageEnd(ctx)
	return append(Claim(uint32(buffer.Len())), buffer.Bytes()...)
}
