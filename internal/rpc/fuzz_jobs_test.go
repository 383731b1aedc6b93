package rpc

import (
	"testing"

	"dodoor/gen-go/dodoor"
	"dodoor/internal/cluster"
)

func FuzzDecodeCommand(f *testing.F) {
	seed := &dodoor.Command{Template: &dodoor.Template{Argv: []string{"echo", "{}"}, Env: []string{"A=b"}, Script: []byte("#!/bin/sh\n")},
		Job: ptr("j"), Index: ptr(int64(7)), Entries: []string{"x"}}
	decode := func(d *decoder, w *dodoor.Command) *cluster.Command { return d.command(w) }
	fuzzDecode(f, seed, dodoor.NewCommand, decode, func(c **cluster.Command) *dodoor.Command { return encoder{dims}.command(*c) })
}

func FuzzDecodeJob(f *testing.F) {
	seed := encoder{dims}.job(&cluster.Job{ID: "j", Name: "n", Text: "echo {}", Tasks: 3, Submitted: 1000, Retries: 1, CrashLimit: 2,
		MaxFails: 3})
	decode := func(d *decoder, w *dodoor.Job) cluster.Job { return d.job(w) }
	fuzzDecode(f, seed, dodoor.NewJob, decode, encoder{dims}.job)
}

func FuzzDecodeJobQuery(f *testing.F) {
	seed := encoder{dims}.jobQuery(&cluster.JobQuery{ID: "j", Max: 3, Wait: 1e9})
	fuzzDecode(f, seed, dodoor.NewJobQuery, (*decoder).jobQuery, encoder{dims}.jobQuery)
}

func FuzzDecodeOutputRequest(f *testing.F) {
	seed := encoder{dims}.output(&cluster.OutputRequest{TaskID: "t", Attempt: 2, Offset: 10, Max: 100, Wait: 1e9})
	fuzzDecode(f, seed, dodoor.NewOutputRequest, (*decoder).output, encoder{dims}.output)
}

func FuzzDecodeOutputChunk(f *testing.F) {
	seed := encoder{dims}.outputChunk(cluster.OutputChunk{Data: []byte{0, 255}, Printed: 9, Kept: 2, Attempt: 1, Loss: "cut"})
	encode := func(c *cluster.OutputChunk) *dodoor.OutputChunk { return encoder{dims}.outputChunk(*c) }
	fuzzDecode(f, seed, dodoor.NewOutputChunk, (*decoder).outputChunk, encode)
}
