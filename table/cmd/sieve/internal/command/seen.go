package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/seen"
)

const seenLong = `Print each line of FILE..., or standard input, the first time it appears, also across runs with the
same --state. Lines are printed at once.

The state is a Bloom filter that grows. It leaves out a new line with a probability of at most
--rate, for any number of lines. At 0.1 %, 1M lines take 3 to 6 MB, and 10G lines about 80 GB. With
a good guess for --keys, they take 2.5 MB and 25 GB.

The state is saved at the end, on signals, and every 10 seconds, or less often if that is slow.
After a crash, pass the input again: only lines since the last save are printed twice, and none is
lost. FILE.lock locks the state.`

// saveEvery is the time between two saves of a state. Tests change it.
var saveEvery = 10 * time.Second

// seenFlags are the flags of seen.
type seenFlags struct {
	state string
	keys  uint64
	rate  float64
}

func seenCommand() *cobra.Command {
	var f seenFlags
	cmd := &cobra.Command{
		Use:   "seen [flags] --state FILE [FILE...]",
		Short: "Print lines not seen before",
		Long:  seenLong,
		Example: `  tail -F urls.log | sieve seen --state urls.state
  sieve seen --state urls.state monday.txt tuesday.txt
  sieve seen --state large.state -n 100M -p 1e-6 urls.txt`,
		ValidArgsFunction: cli.AnyFile,
		Annotations: cli.ExitStatus{
			cli.ExitUsage:   "usage error, I/O error, or a state in use",
			cli.ExitDamaged: "the state is damaged",
		}.Annotation(),
		Args: cli.Arguments("FILE", 0, cli.Unlimited, cli.Unlimited),
		RunE: func(cmd *cobra.Command, args []string) error { return f.run(cmd, args) },
	}
	flags := cmd.Flags()
	flags.StringVar(&f.state, "state", "", "`file` of the state (required)")
	flags.VarP(cli.Count(&f.keys, "", seen.MaxKeys), "keys", "n", "expected `lines` of a new state, up to 10G")
	flags.VarP(cli.Parsed(&f.rate, "value", "0.1%", parseSeenRate), "rate", "p", "`share` of lines a new state may leave out, 1e-9 to 0.5")
	return cmd
}

// parseSeenRate is plan.ParseRate for the rates that a state can have.
func parseSeenRate(s string) (float64, error) {
	rate, err := plan.ParseRate(s)
	if err != nil || rate > seen.MaxRate {
		return 0, fmt.Errorf("not a rate from 1e-9 to %g, such as 0.01 or 1%%", seen.MaxRate)
	}
	return rate, nil
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
	if rate := state.PresentRate(); rate > 1.1*state.Rate() {
		text.Note(stderr, "%s is overfull and leaves out %.3g %% of new lines: start another --state",
			format.ShellPath(f.state), 100*rate)
	}
	sieve := seen.Sieve{State: state, Out: out, Every: saveEvery}
	err = cli.Interruptible(cmd.Context(), func(ctx context.Context) error {
		err := sieve.Run(ctx, paths, cmd.InOrStdin())
		// The message of a signal does not say why the state was not saved. A closed pipe needs no message.
		if signal := context.Cause(ctx); signal != nil && err != nil && !errors.Is(signal, err) && !errors.Is(err, syscall.EPIPE) {
			text.Say(stderr, "%v", err)
		}
		return err
	})
	return errors.Join(err, state.Close())
}

// open checks flags and inputs, and opens the state.
func (f *seenFlags) open(cmd *cobra.Command, paths []string) (*seen.State, error) {
	switch {
	case f.state == "":
		return nil, cli.UsageErrorf("missing --state FILE")
	case f.state == "-":
		return nil, cli.UsageErrorf("--state is -, not a file: for a file of this name, use --state ./-")
	}
	if err := output.FilesOf(cmd.OutOrStdout()).CheckAll([]string{f.state}); err != nil {
		return nil, cli.UsageErrorf("standard output is the state %s, which is replaced as a whole: redirect the output to another file", format.ShellPath(f.state))
	}
	o := input.Options{Outputs: output.FilesOf(cmd.OutOrStdout(), f.state)}
	if err := o.Check(paths, cmd.InOrStdin()); err != nil {
		return nil, err
	}
	state, err := seen.Open(f.state, f.keys, f.rate)
	if err != nil {
		return nil, err
	}
	flag := cmd.Flags().Lookup("rate")
	if flag.Changed && math.Abs(f.rate-state.Rate()) > 1e-9*f.rate { // 0.7% and 0.007 differ as floats
		err := cli.UsageErrorf("--rate is %s, but the rate of %s is %g: leave out --rate, or use another --state",
			format.Quote([]byte(flag.Value.String())), format.ShellPath(f.state), state.Rate())
		return nil, errors.Join(err, state.Close())
	}
	return state, nil
}
