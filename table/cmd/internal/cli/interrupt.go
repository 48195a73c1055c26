package cli

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// An InterruptError is the error of a command that was interrupted by a signal. It is the cause of
// Interruptible's context.
type InterruptError struct{ Signal syscall.Signal }

func (i InterruptError) Error() string { return "interrupted" }

// Report prints why the command ended, and returns its exit status, 128 plus the number of
// the signal. It prints nothing for SIGPIPE.
func (i InterruptError) Report(stderr io.Writer) int {
	if i.Signal != syscall.SIGPIPE {
		text.Say(stderr, "%v", i)
	}
	return 128 + int(i.Signal)
}

// InterruptGrace is how long an interrupted command may take to end. Tests change it.
var InterruptGrace = time.Second

// Interruptible runs do with a context that ends at the first signal that would end the process, so that do can
// remove its temporary files. If do takes longer than InterruptGrace, for example on a slow disk, the process
// ends anyway.
func Interruptible(ctx context.Context, do func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	signals, done := make(chan os.Signal, 1), make(chan bool)
	if caught := TerminatingSignals(); len(caught) > 0 { // without arguments, Notify would catch all signals
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
			cancel(InterruptError{by})
		}
		select {
		case <-done:
		case <-time.After(InterruptGrace):
			output.AbortAll()
			os.Exit(context.Cause(ctx).(InterruptError).Report(progress.Over(os.Stderr)))
		}
	}()
	err := do(ctx)
	if i, ok := context.Cause(ctx).(InterruptError); ok && err != nil {
		return i
	}
	return err
}

// StopAtSignals returns a RunE that runs do by Interruptible. The context of its command is the one that ends.
func StopAtSignals(do func(cmd *cobra.Command, args []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		return Interruptible(cmd.Context(), func(ctx context.Context) error {
			cmd.SetContext(ctx)
			return do(cmd, args)
		})
	}
}

// TerminatingSignals returns the signals that would end the process. It excludes signals that were ignored when
// the process started, as with nohup.
func TerminatingSignals() []os.Signal {
	return slices.DeleteFunc(slices.Clone(allTerminatingSignals), func(s os.Signal) bool {
		return s == syscall.Signal(0) || signal.Ignored(s)
	})
}
