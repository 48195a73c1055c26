package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// interruptError ends a command that a signal ends. It is what the context of interruptible
// ends with.
type interruptError struct{ signal syscall.Signal }

func (i interruptError) Error() string { return "interrupted" }

// report says what ended the command, and returns its exit status, which is what shells make
// of the signal. Nothing is said where nobody reads on.
func (i interruptError) report(stderr io.Writer) int {
	if i.signal != syscall.SIGPIPE {
		text.Line(stderr, "sst: %v", i)
	}
	return 128 + int(i.signal)
}

// interruptGrace is how long a command that was interrupted is waited for.
const interruptGrace = time.Second

// interruptible runs do with a context that ends at the first signal that would end the
// process, so that no temporary files are left. What do still waits for after a while,
// such as a slow disk, is given up.
func interruptible(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals, done := make(chan os.Signal, 1), make(chan bool)
	if caught := terminatingSignals(); len(caught) > 0 { // of none, Notify would catch all
		signal.Notify(signals, caught...)
		defer signal.Stop(signals)
	}
	defer close(done)
	go func() {
		select {
		case <-done:
			return
		case s := <-signals:
			by, _ := s.(syscall.Signal)
			cancel(interruptError{by})
		}
		select {
		case <-done:
		case <-time.After(interruptGrace):
			output.AbortAll()
			os.Exit(context.Cause(ctx).(interruptError).report(os.Stderr))
		}
	}()
	err := do(ctx)
	if i, ok := context.Cause(ctx).(interruptError); ok && err != nil {
		return i
	}
	return err
}

// terminatingSignals returns the signals that would end the process. One that was to be ignored
// when it started, as nohup has it, stays so.
func terminatingSignals() []os.Signal {
	var all []os.Signal
	for _, s := range allTerminatingSignals {
		if !signal.Ignored(s) {
			all = append(all, s)
		}
	}
	return all
}
