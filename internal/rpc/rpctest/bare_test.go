package rpctest

import (
	"context"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestRelay: a submission to the bare relay reaches the sink, and everything can be closed again.
func TestRelay(t *testing.T) {
	sink, err := StartSink()
	if err != nil {
		t.Fatal(err)
	}
	defer sink.Close()
	relay, err := StartRelay(sink.Addr(), 2)
	if err != nil {
		t.Fatal(err)
	}
	defer relay.Close()
	s, err := NewSubmitter(relay.Addr(), "client")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for range 3 {
		if err := s.Submit(context.Background(), "sleep", "a", "b"); err != nil {
			t.Fatal(err)
		}
	}
	sink.Close()
	if err := s.Submit(context.Background(), "sleep", "c"); err == nil {
		t.Error("the relay answered without its sink")
	}
}
