package command

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// keyFlags say how keys are given.
type keyFlags struct {
	from string // a file with a key per line; -: standard input
	hex  bool
}

// add adds the flags. purpose says what the command does with the keys of the file.
func (f *keyFlags) add(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.from, "keys-from", "", purpose+" the keys in this `file`, one per line; - is standard input")
	cmd.Flags().BoolVar(&f.hex, "hex", false, "keys are in hexadecimal, two digits per byte")
}

// Limits of a batch of keys from --keys-from, and of a line.
const (
	maxBatchKeys  = 100_000
	maxBatchBytes = 16 << 20
	maxKeyLine    = 16 << 20
)

// decode decodes a key of an argument or a line.
func (f *keyFlags) decode(s string) ([]byte, error) {
	if f.hex {
		key, err := hex.DecodeString(s)
		if err != nil {
			err = fmt.Errorf("key %s is not hexadecimal, want two digits per byte, because --hex is given", wire.Quote([]byte(s)))
		}
		return key, err
	}
	key, err := printable.Unescape(s)
	if err != nil {
		err = fmt.Errorf("key %s: %w", wire.Quote([]byte(s)), err)
	}
	return key, err
}

func (f *keyFlags) decodeAll(args []string) ([][]byte, error) {
	var keys [][]byte
	for _, arg := range args {
		key, err := f.decode(arg)
		if err != nil {
			return nil, cli.UsageErrorf("%w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// batches yields the first keys and those of --keys-from in batches.
func (f *keyFlags) batches(first [][]byte, stdin io.Reader, outputs output.Files) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		batch, size := first, 0
		for key, err := range f.lines(stdin, outputs) {
			if err != nil {
				yield(nil, err)
				return
			}
			if size += len(key); len(batch) >= maxBatchKeys || size > maxBatchBytes {
				if !yield(batch, nil) {
					return
				}
				batch, size = nil, len(key)
			}
			batch = append(batch, key)
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
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
		lines, n := bufio.NewScanner(in), 0
		lines.Buffer(nil, maxKeyLine+1)
		lines.Split(input.SplitLines)
		for lines.Scan() {
			n++
			key, err := f.decode(lines.Text())
			if err != nil {
				err = fmt.Errorf("%s, line %d: %w", name, n, err)
			}
			if !yield(key, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err == bufio.ErrTooLong {
			yield(nil, fmt.Errorf("%s, line %d: longer than %d bytes, want at most that many", name, n+1, maxKeyLine))
		} else if err != nil {
			yield(nil, fmt.Errorf("%s, after line %d: %w", name, n, err))
		}
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
