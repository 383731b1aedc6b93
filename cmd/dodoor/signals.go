package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"dodoor/experiment"
	"dodoor/internal/keeper"
)

// interruptible returns a context that ends with the first SIGINT or SIGTERM; a second one ends the
// process at once. It is for services and short commands.
func interruptible(log *slog.Logger) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	unwatch := onSignals(
		func(s os.Signal) { log.Info("stopping: a second signal ends at once", "signal", s); cancel() },
		func(os.Signal) { os.Exit(exitFailed) })
	return ctx, func() { unwatch(); cancel() }
}

// signals is what ends runs: what is simulated has nothing to wait for when it is stopped.
func signals(on string, log *slog.Logger) (ctx, hurry context.Context, stop context.CancelFunc) {
	if on == experiment.OnSim {
		ctx, stop = interruptible(log)
		return ctx, nil, stop
	}
	return signalled(log)
}

// signalled is for commands that write rows: the first signal ends the context, the second one ends hurry, which
// cuts the run short and keeps its rows whole, and the third one ends the process. Whoever listened to them may have gone
// meanwhile: what is written to them then is lost, and that is all.
func signalled(log *slog.Logger) (ctx, hurry context.Context, stop context.CancelFunc) {
	signal.Ignore(syscall.SIGPIPE)
	hurry, hurryUp := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(context.Background())
	unwatch := onSignals(
		func(s os.Signal) {
			log.Info("stopping, and waiting for results: a second signal gives them up", "signal", s)
			cancel()
		},
		func(s os.Signal) {
			log.Warn("ending the run now: tasks without a result are abandoned, and every row is written; a third signal ends at once", "signal", s)
			hurryUp()
		},
		func(os.Signal) { os.Exit(exitFailed) })
	return ctx, hurry, func() { unwatch(); cancel(); hurryUp() }
}

// onSignals takes the steps one by one, one for every SIGINT or SIGTERM, or SIGHUP unless that is ignored (nohup), until it is
// told to stop.
func onSignals(steps ...func(os.Signal)) (stop func()) {
	signals := make(chan os.Signal, len(steps))
	keeper.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) {
		keeper.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		for _, step := range steps {
			s, ok := <-signals
			if !ok {
				return
			}
			step(s)
		}
	}()
	return sync.OnceFunc(func() {
		keeper.Stop(signals)
		close(signals)
	})
}
