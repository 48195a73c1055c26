package command

import (
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/table/cloud/cmd/sstcloud/internal/text"
)

// keyFlags say how keys are given.
type keyFlags struct {
	from string // a file with a key per line; -: standard input
	hex  bool
	note func(string)
}

func (f *keyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "keys-from", "", "look up the keys in this `file`, one per line; - is standard input")
	cmd.Flags().BoolVar(&f.hex, "hex", false, "keys are in hexadecimal, two digits per byte")
	f.note = func(note string) { text.Line(cmd.ErrOrStderr(), "sstcloud: note: %s", note) }
}

// maxBatchKeys is how many keys are looked up together. Their values are in memory at once.
const maxBatchKeys = 1000

func (f *keyFlags) decodeAll(args []string) ([][]byte, error) {
	var keys [][]byte
	for _, arg := range args {
		key, err := keylines.Decode(arg, f.hex)
		if err != nil {
			return nil, usageError{err}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// batches yields the first keys and those of --keys-from in batches.
func (f *keyFlags) batches(first [][]byte, stdin io.Reader) iter.Seq2[[][]byte, error] {
	return keylines.Batches(first, f.lines(stdin), maxBatchKeys)
}

// lines yields the keys of --keys-from.
func (f *keyFlags) lines(stdin io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		name, in, err := f.open(stdin)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close() // it was only read
		keylines.Keys(name, in, f.hex, f.note)(yield)
	}
}

// open opens the file of --keys-from, and returns its name for messages. Without one it is empty.
func (f *keyFlags) open(stdin io.Reader) (name string, in io.ReadCloser, err error) {
	switch f.from {
	case "":
		return "", io.NopCloser(strings.NewReader("")), nil
	case "-":
		return "standard input", io.NopCloser(stdin), nil
	}
	in, err = os.Open(f.from)
	return f.from, in, err
}
