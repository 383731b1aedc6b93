package main

import (
	"log/slog"
	"os"
	"syscall"
	"testing"

	"dodoor/experiment"
)

// The first signal stops a run on real services, the second hurries it; a simulation has nothing to wait for.
func TestSignals(t *testing.T) {
	send := func() {
		if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	}
	ctx, hurry, stop := signals(experiment.OnLocal, slog.New(slog.DiscardHandler))
	send()
	<-ctx.Done() // two signals that are one too close to the other are one
	if hurry.Err() != nil {
		t.Error("the first signal hurries")
	}
	send()
	<-hurry.Done()
	stop()
	ctx, hurry, stop = signals(experiment.OnSim, slog.New(slog.DiscardHandler))
	defer stop()
	if send(); hurry != nil {
		t.Error("a simulation is hurried")
	}
	<-ctx.Done()
}
