package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/seen"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const seenLong = `Print the lines that come for the first time, as they are, and leave out those that came before:
in this input, or in any earlier one with the same --state. FILE - or no FILE is standard input.

The state is a Bloom filter in a file. It takes the same memory and disk however long the lines
are: 2 MB for a million lines and a rate of 0.1 %, and up to 110 GB with -n 10G. If there is
less memory, sst says so and ends, with exit status 4. A line that came before is never printed
again, but for what a kill can do. A line that comes for the first time is left out by mistake
with a probability of at most --rate, as long as the state has at most --keys lines. With more
lines, a note says so once, and how high the probability is. A state cannot grow.

-n and -p are for a new state. One that exists keeps its own, and others are an error.

A line ends with a newline. Carriage returns and spaces are part of it. The last line of an
input gets a newline if it has none. A line has at most 16 MiB. New lines are printed at once,
without waiting for more input.

The state is saved at the end, when a signal such as that of Ctrl-C ends sst, and every 10
seconds if there are new lines. If to save takes more than a second, it is saved less often,
and a signal may act like a kill. All lines that a state has are printed before it is saved,
and are on disk if standard output is a file. So after a kill, or a crash of the machine, give the
input again: lines since the last save are then printed again, and none is left out. The last
line before a kill may be torn.

The state is replaced as a whole, and has checksums. A kill during a save can leave a file
sievetable-….tmp beside it, which may be removed. A damaged state is an error, and is left
as it is. A run that reads nothing because of an error makes no new state. While sst seen
uses a state, another one that is given the same is an error. For this it locks FILE.lock
beside it, which stays.`

// saveEvery is how often a state is saved. Tests change it.
var saveEvery = 10 * time.Second

// seenFlags are the flags of seen.
type seenFlags struct{ state, keys, rate string }

func seenCommand() *cobra.Command {
	var f seenFlags
	cmd := &cobra.Command{
		Use:   "seen [flags] --state FILE [FILE...]",
		Short: "Print the lines that were not seen before, over restarts",
		Long:  seenLong,
		Example: `  tail -F urls.log | sst seen --state urls.state
  sst seen --state urls.state -n 100M -p 1e-6 monday.txt tuesday.txt > new.txt`,
		ValidArgsFunction: cli.AnyFile,
		Annotations: exitStatus{
			exitUsage:   "wrong usage, a file that cannot be read or written, or a state that is in use",
			exitDamaged: "the state is damaged",
		}.annotation(),
		Args: cli.Arguments("FILE", 0, cli.Unlimited, cli.Unlimited),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.state, "state", "", "keep what was seen in this `file` (required)")
	flags.StringVarP(&f.keys, "keys", "n", "1M", "number of different `lines` that a new state is made for, 1 to 10G")
	flags.StringVarP(&f.rate, "rate", "p", "0.1%", "`share` of new lines that a new state may leave out, 1e-9 to 0.5")
	return cmd
}

// run prints the new lines.
func (f *seenFlags) run(cmd *cobra.Command, paths []string) error {
	if len(paths) == 0 {
		paths = []string{"-"}
	}
	state, err := f.open(cmd, paths)
	if err != nil {
		return err
	}
	out, stderr := cmd.OutOrStdout().(cli.Stdout), cmd.ErrOrStderr()
	sieve := seen.Sieve{State: state, Out: out, Every: saveEvery, Full: func() { f.noteFull(stderr, state) }}
	err = cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		err := sieve.Run(ctx, paths, cmd.InOrStdin())
		if cause := context.Cause(ctx); cause != nil {
			noteNotSaved(stderr, cause, err)
		}
		return err
	})
	return errors.Join(err, state.Close())
}

// open checks flags and inputs, and opens the state.
func (f *seenFlags) open(cmd *cobra.Command, paths []string) (*seen.State, error) {
	keys, rate, err := f.parse()
	if err != nil {
		return nil, err
	}
	if err := output.FilesOf(cmd.OutOrStdout(), "").CheckAll([]string{f.state}); err != nil {
		return nil, cli.UsageErrorf("standard output is the state %s: lines that are printed would be lost when it is replaced", text.ShellPath(f.state))
	}
	o := input.Options{Outputs: output.FilesOf(cmd.OutOrStdout(), f.state)}
	if err := o.Check(paths, cmd.InOrStdin()); err != nil {
		return nil, err
	}
	state, err := seen.Open(f.state, keys, rate)
	if err != nil {
		return nil, err
	}
	if err := f.checkMade(cmd.Flags(), state, keys, rate); err != nil {
		return nil, errors.Join(err, state.Close())
	}
	return state, nil
}

// parse returns what a new state would be made for.
func (f *seenFlags) parse() (keys uint64, rate float64, err error) {
	switch f.state {
	case "":
		return 0, 0, cli.UsageErrorf("--state is not given, want the file that keeps what was seen")
	case "-":
		return 0, 0, cli.UsageErrorf("--state is -, want a file: a state is read, and replaced as a whole; ./- is a file of that name")
	}
	if keys, err = cli.ParseCount("-n", f.keys, seen.MaxKeys); err != nil {
		return 0, 0, err
	}
	if rate, err = plan.ParseRate(f.rate); err == nil && rate > seen.MaxRate {
		err = cli.UsageErrorf("-p is %s, want a rate from 1e-9 to 0.5", wire.Quote([]byte(f.rate)))
	}
	return keys, rate, err
}

// checkMade returns an error if a flag asks for another state than there is.
func (f *seenFlags) checkMade(flags *pflag.FlagSet, s *seen.State, keys uint64, rate float64) error {
	made := fmt.Sprintf("but %s was made for %s and a rate of %g: leave it out, or give another --state",
		text.ShellPath(f.state), text.Count(s.Keys, "line"), s.Rate)
	if flags.Changed("keys") && keys != s.Keys {
		return cli.UsageErrorf("-n is %s, %s", wire.Quote([]byte(f.keys)), made)
	}
	if flags.Changed("rate") && math.Abs(rate-s.Rate) > 1e-9*rate { // 0.7% is not the same number as 0.007
		return cli.UsageErrorf("-p is %s, %s", wire.Quote([]byte(f.rate)), made)
	}
	return nil
}

func (f *seenFlags) noteFull(stderr io.Writer, s *seen.State) {
	text.Line(stderr, "sst: note: %s has %s, and was made for %s: %.3g %% of new lines are left out by now, and more later: begin another --state with a larger -n",
		text.ShellPath(f.state), text.Count(s.Lines, "line"), text.Count(s.Keys, "line"), 100*s.PresentRate())
}

// noteNotSaved says why the state was not saved when a signal ended sst. The message of the signal
// does not. That nobody reads the lines any more is no news.
func noteNotSaved(stderr io.Writer, signal, err error) {
	if err != nil && !errors.Is(signal, err) && !errors.Is(err, syscall.EPIPE) {
		text.Line(stderr, "sst: %v", err)
	}
}
