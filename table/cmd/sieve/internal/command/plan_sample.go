package command

import (
	"cmp"
	"context"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sieve/internal/plan"
)

// readSample reads the sample. Without -n, the query is for as many keys as it has.
func (f *planFlags) readSample(cmd *cobra.Command) error {
	options := input.Options{Format: f.Format, Memory: planMemory}
	if err := options.Check([]string{f.sample}, cmd.InOrStdin()); err != nil {
		return err
	}
	r := &input.Reader{Paths: []string{f.sample}, Stdin: cmd.InOrStdin(), Stderr: cmd.ErrOrStderr(), Options: options}
	s := plan.NewKeySample()
	add := func(p input.Pair) error { return s.Add(p.Key, p.Value) }
	if err := eachPair(cmd.Context(), r, add); err != nil {
		return err
	}
	if f.readTwice() && s.ChooseStretches(cmp.Or(f.Keys, cli.MaxCount)) {
		again := func(p input.Pair) error { return s.AddNeighbours(p.Key, p.Value) }
		if err := eachPair(cmd.Context(), r, again); err != nil {
			return err
		}
	}
	f.Query.Sample = s
	if err := s.Complete(); err != nil || f.Keys > 0 {
		return err
	}
	f.Keys, f.Input = s.Keys(), text.ShellPath(f.sample)
	return nil
}

// readTwice reports whether the sample can be read again.
func (f *planFlags) readTwice() bool {
	info, err := os.Stat(f.sample)
	return f.sample != "-" && err == nil && (info.Mode().IsRegular() || info.IsDir())
}

// eachPair reads all pairs, and adds them.
func eachPair(ctx context.Context, r *input.Reader, add func(input.Pair) error) error {
	for pair, err := range r.Pairs(ctx) {
		if err == nil {
			err = add(pair)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
