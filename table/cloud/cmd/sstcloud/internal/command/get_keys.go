package command

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
)

// keyFlags say how keys are given.
type keyFlags struct {
	from string // a file with a key per line; -: standard input
	hex  bool
}

func (f *keyFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.from, "keys-from", "", "look up the keys in this `file`, one per line; - is standard input")
	cmd.Flags().BoolVar(&f.hex, "hex", false, "keys are in hexadecimal, two digits per byte")
}

// Limits of a batch of keys, and of a line. The values of a batch are in memory at once.
const (
	maxBatchKeys  = 1000
	maxBatchBytes = 16 << 20
	maxKeyLine    = 16 << 20
)

// decode decodes a key of an argument or a line.
func (f *keyFlags) decode(s string) (key []byte, err error) {
	if f.hex {
		if key, err = hex.DecodeString(s); err != nil {
			err = fmt.Errorf("key %s is not hexadecimal, want two digits per byte, because --hex is given", wire.Quote([]byte(s)))
		}
		return key, err
	}
	if key, err = printable.Unescape(s); err != nil {
		err = fmt.Errorf("key %s: %w", wire.Quote([]byte(s)), err)
	}
	return key, err
}

func (f *keyFlags) decodeAll(args []string) ([][]byte, error) {
	var keys [][]byte
	for _, arg := range args {
		key, err := f.decode(arg)
		if err != nil {
			return nil, usageError{err}
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// batches yields the first keys and those of --keys-from in batches.
func (f *keyFlags) batches(first [][]byte, stdin io.Reader) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		batch, size := first, 0
		for key, err := range f.lines(stdin) {
			if err != nil {
				yield(nil, err)
				return
			}
			if size += len(key); len(batch) >= maxBatchKeys || size > maxBatchBytes {
				if len(batch) > 0 && !yield(batch, nil) {
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
func (f *keyFlags) lines(stdin io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		name, in, err := f.open(stdin)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close() // it was only read
		lines, n := bufio.NewScanner(in), 0
		lines.Buffer(nil, maxKeyLine+1)
		lines.Split(splitLines)
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

// splitLines is a bufio.SplitFunc of lines. A carriage return before the end is a part of the line.
func splitLines(data []byte, atEOF bool) (advance int, line []byte, err error) {
	if i := bytes.IndexByte(data, '\n'); i >= 0 {
		return i + 1, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}
