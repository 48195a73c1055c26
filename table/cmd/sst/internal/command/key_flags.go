package command

import (
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// keyFlags say how keys are given.
type keyFlags struct {
	from string // a file with a key per line; -: standard input
	hex  bool
	note func(string)
}

// add adds the flags. purpose says what the command does with the keys of the file.
func (f *keyFlags) add(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.from, "keys-from", "", purpose+" the keys in this `file`, one per line")
	cmd.Flags().BoolVar(&f.hex, "hex", false, "keys are in hexadecimal, two digits per byte")
	f.note = func(note string) { text.Line(cmd.ErrOrStderr(), "sst: note: %s", note) }
}

// maxBatchKeys is how many keys of --keys-from are looked up at once.
const maxBatchKeys = 100_000

func (f *keyFlags) decodeAll(args []string) ([][]byte, error) {
	var keys [][]byte
	for _, arg := range args {
		key, err := keylines.Decode(arg, f.hex)
		if err != nil {
			return nil, cli.UsageErrorf("%w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// batches yields the first keys and those of --keys-from in batches.
func (f *keyFlags) batches(first [][]byte, stdin io.Reader, outputs output.Files) iter.Seq2[[][]byte, error] {
	return keylines.Batches(first, f.lines(stdin, outputs), maxBatchKeys)
}

// lines yields the keys of --keys-from.
func (f *keyFlags) lines(stdin io.Reader, outputs output.Files) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if f.from == "" {
			return
		}
		name, in, err := f.open(stdin, outputs)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close() // it was only read
		keylines.Keys(name, in, f.hex, f.note)(yield)
	}
}

// open opens the file of --keys-from, and returns its name for messages.
func (f *keyFlags) open(stdin io.Reader, outputs output.Files) (name string, in io.ReadCloser, err error) {
	if f.from == "-" {
		return "standard input", io.NopCloser(stdin), nil
	}
	if err := outputs.CheckAll([]string{f.from}); err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(f.from); err == nil && info.IsDir() {
		return "", nil, cli.UsageErrorf("--keys-from %s: a directory, want a file of keys", text.ShellPath(f.from))
	}
	in, err = os.Open(f.from)
	return f.from, in, err
}
