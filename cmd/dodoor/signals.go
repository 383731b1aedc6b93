package main

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
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

// signalled is for commands that write rows: the first signal ends the context, the second one ends what
// hurried returns, which cuts the run short and keeps its rows whole, and the third one ends the process.
func signalled(log *slog.Logger) (context.Context, context.CancelFunc) {
	hurry, hurryUp := context.WithCancel(context.Background())
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), hurryKey{}, hurry))
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
	return ctx, func() { unwatch(); cancel(); hurryUp() }
}

type hurryKey struct{}

// hurried returns the context that ends when a command that is stopping has to hurry.
func hurried(ctx context.Context) context.Context {
	if hurry, ok := ctx.Value(hurryKey{}).(context.Context); ok {
		return hurry
	}
	return context.Background()
}

// onSignals takes the steps one by one, one for every SIGINT or SIGTERM, until it is told to stop.
func onSignals(steps ...func(os.Signal)) (stop func()) {
	signals := make(chan os.Signal, len(steps))
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for _, step := range steps {
			s, ok := <-signals
			if !ok {
				return
			}
			step(s)
		}
	}()
	return func() {
		signal.Stop(signals)
		close(signals)
	}
}
