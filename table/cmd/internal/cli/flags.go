package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"iter"
	"os"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/internal/printable"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A BytesFlag is the value of a flag, with escapes. nil means that the flag is not given.
type BytesFlag []byte

func (b *BytesFlag) String() string { return printable.Escape(*b) }
func (b *BytesFlag) Type() string   { return "key" }

func (b *BytesFlag) Set(s string) error {
	v, err := printable.Unescape(s)
	*b = append([]byte{}, v...)
	return err
}

// KeyFlags say how keys are given.
type KeyFlags struct {
	From string // a file with a key per line; -: standard input
	Hex  bool
	note func(string)
}

// Add adds the flags. purpose says what the command does with the keys of the file.
func (f *KeyFlags) Add(cmd *cobra.Command, purpose string) {
	cmd.Flags().StringVar(&f.From, "keys-from", "", purpose+" the keys in this `file`, one per line")
	cmd.Flags().BoolVar(&f.Hex, "hex", false, "keys are in hexadecimal, two digits per byte")
	f.note = func(note string) { text.Note(cmd.ErrOrStderr(), "%s", note) }
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
func (f *KeyFlags) Batches(first [][]byte, stdin io.Reader, outputs output.Files) iter.Seq2[[][]byte, error] {
	return keylines.Batches(first, f.Lines(stdin, outputs), MaxBatchKeys)
}

// Lines yields the keys of --keys-from.
func (f *KeyFlags) Lines(stdin io.Reader, outputs output.Files) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		if f.From == "" {
			return
		}
		name, in, err := f.open(stdin, outputs)
		if err != nil {
			yield(nil, err)
			return
		}
		defer in.Close() // it was only read
		keylines.Keys(name, in, f.Hex, f.note)(yield)
	}
}

// open opens the file of --keys-from, and returns its name for messages.
func (f *KeyFlags) open(stdin io.Reader, outputs output.Files) (name string, in io.ReadCloser, err error) {
	if f.From == "-" {
		return "standard input", io.NopCloser(stdin), nil
	}
	if err := outputs.CheckAll([]string{f.From}); err != nil {
		return "", nil, err
	}
	if info, err := os.Stat(f.From); err == nil && info.IsDir() {
		return "", nil, UsageErrorf("--keys-from %s: a directory, want a file of keys", text.ShellPath(f.From))
	}
	in, err = os.Open(f.From)
	return f.From, in, err
}

// MemoryFlags are the flags of commands that limit their memory.
type MemoryFlags struct {
	memory string
	given  func() bool
}

// Add adds the flag.
func (f *MemoryFlags) Add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.memory, "memory", "1GiB", "memory limit, at least 32MiB")
	f.given = func() bool { return cmd.Flags().Changed("memory") }
}

// Limit returns the limit.
func (f *MemoryFlags) Limit() (memory.Limit, error) {
	if !f.given() {
		return memory.Usual()
	}
	const want = "a size of at least 32MiB, such as 1GiB"
	n, err := ParseSize("--memory", f.memory, want)
	if err == nil && memory.Limit(n) < memory.MinLimit {
		err = UsageErrorf("--memory is %s, want %s", wire.Quote([]byte(f.memory)), want)
	}
	if err != nil {
		return 0, err
	}
	return memory.Limit(n), memory.Limit(n).Check()
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
