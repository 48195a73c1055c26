package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// KeyFlags say how keys are given.
type KeyFlags struct {
	From string // a file with a key per line; -: standard input
	Hex  bool
}

// Add adds the flags. purpose says what the command does with the keys of the file.
func (f *KeyFlags) Add(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.From, "keys-from", "", purpose+" the keys in this `file`, one per line")
	cmd.Flags().BoolVar(&f.Hex, "hex", false, "keys are in hexadecimal, two digits per byte")
}

// MaxBatchKeys is how many keys of --keys-from are looked up at once.
const MaxBatchKeys = 100_000

// DecodeAll decodes the keys that are arguments.
func (f *KeyFlags) DecodeAll(args []string) ([][]byte, error) {
	var keys [][]byte
	for _, arg := range args {
		key, err := keylines.Decode(arg, f.Hex)
		if err != nil {
			return nil, UsageErrorf("%w", err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Batches yields the first keys and those of --keys-from in batches.
func (f *KeyFlags) Batches(first [][]byte, cmd *cobra.Command, outputs output.Files) iter.Seq2[[][]byte, error] {
	return keylines.Batches(first, f.Lines(cmd, outputs), MaxBatchKeys)
}

// Lines yields the keys of --keys-from, which must not be one of the outputs.
func (f *KeyFlags) Lines(cmd *cobra.Command, outputs output.Files) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		name, in := "standard input", cmd.InOrStdin()
		switch f.From {
		case "":
			return
		case "-":
		default:
			file, err := f.open(outputs)
			if err != nil {
				yield(nil, err)
				return
			}
			defer file.Close() // it was only read
			name, in = f.From, file
		}
		note := func(note string) { text.Note(cmd.ErrOrStderr(), "%s", note) }
		keylines.Keys(name, in, f.Hex, note)(yield)
	}
}

func (f *KeyFlags) open(outputs output.Files) (*os.File, error) {
	if err := outputs.CheckAll([]string{f.From}); err != nil {
		return nil, err
	}
	if info, err := os.Stat(f.From); err == nil && info.IsDir() {
		return nil, UsageErrorf("--keys-from %s: a directory, want a file of keys", text.ShellPath(f.From))
	}
	return os.Open(f.From)
}

// MemoryFlags are the flags of commands that limit their memory.
type MemoryFlags struct{ memory memory.Limit } // 0: not given

// Add adds the flag.
func (f *MemoryFlags) Add(cmd *cobra.Command) {
	v := Size(&f.memory, "", int64(memory.MinLimit), math.MaxInt64, "a size of at least 32MiB, such as 1GiB")
	cmd.Flags().Var(v, "memory", "memory `limit`, at least 32MiB")
	cmd.Flag("memory").DefValue = "1GiB"
}

// Limit returns the limit.
func (f *MemoryFlags) Limit() (memory.Limit, error) {
	if f.memory == 0 {
		return memory.Usual()
	}
	return f.memory, f.memory.Check()
}

// ErrNoPage is the error of a command without the flag.
var ErrNoPage = UsageErrorf("-o is not given, want the name of the page, or - for standard output")

// AddPageFlag adds the flag for the name of the web page that the command writes.
func AddPageFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "output", "o", "", "write the page to `PAGE`; -: standard output (required)")
}

// WritePage writes a web page to the file with this name. The file gets its name when the
// page is complete.
func WritePage(ctx context.Context, name string, page func(io.Writer) error, stdout io.Writer) error {
	return Interruptible(ctx, func(ctx context.Context) error {
		return output.WriteFile(ctx, name, stdout, func(to io.Writer) error {
			out := bufio.NewWriter(to)
			return errors.Join(page(out), out.Flush())
		})
	})
}
