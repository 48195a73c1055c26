package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

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

// countSuffixes are the suffixes of a number of things.
var countSuffixes = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// grouped matches numbers with commas between groups of three digits.
var grouped = regexp.MustCompile(`^[0-9]{1,3}(,[0-9]{3})+$`)

// number parses a number without a suffix: 1000000, 1_000_000, 1,000,000 or 1e6.
func number(s string) (float64, error) {
	if grouped.MatchString(s) {
		s = strings.ReplaceAll(s, ",", "")
	}
	return strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
}

// wholeNumber parses a whole number, which may have a suffix, such as 1M. The error is
// strconv.ErrRange if it has more than 18 digits.
func wholeNumber(s string) (int64, error) {
	digits := strings.TrimRight(s, "kKMGT")
	factor := countSuffixes[s[len(digits):]] // 0: there are several
	n, err := number(digits)
	n *= factor
	switch {
	case err != nil || factor == 0 || factor > 1 && strings.Contains(digits, ",") || n != math.Trunc(n):
		return 0, strconv.ErrSyntax
	case n == 0 && math.Signbit(n): // -0, or what is rounded to it, would pass for 0 where numbers must be >= 0
		return 0, strconv.ErrSyntax
	case math.Abs(n) >= 1e18:
		return 0, strconv.ErrRange
	}
	return int64(n), nil
}

// MaxCount is the largest limit of a count, such as of all keys. Below 2⁵³, a float64 has each whole number.
const MaxCount = 1_000_000_000_000_000

// ParseCount parses the number of keys, tables or the like that the flag is, 1 to most:
// 10000000000, 10_000_000_000, 10,000,000,000, 10e9 or 10G.
func ParseCount(flag, s string, most uint64) (uint64, error) {
	n, err := wholeNumber(s)
	if err == nil && n >= 1 && uint64(n) <= most {
		return uint64(n), nil
	}
	limit, example := fmt.Sprint(most), "10_000_000, 10e6 or 10M"
	switch {
	case most == MaxCount:
		limit = "1e15"
	case most < 10e6:
		example = "10_000, 10e3 or 10k"
	}
	return 0, UsageErrorf("%s is %s, want a whole number from 1 to %s, such as %s", flag, wire.Quote([]byte(s)), limit, example)
}

// A count is the value of a flag that counts things. It takes what ParseCount takes, and 0 and
// numbers below it, which the command may forbid.
type count int

// CountVar defines a flag that counts things, with a shorthand if it is not empty.
func CountVar(flags *pflag.FlagSet, p *int, name, shorthand string, value int, usage string) {
	*p = value
	flags.VarP((*count)(p), name, shorthand, usage)
}

func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type is that of other whole numbers, so that help and errors have one word for all.
func (c *count) Type() string { return "int" }

func (c *count) Set(s string) error {
	n, err := wholeNumber(s)
	if *c = count(n); int64(*c) != n {
		return strconv.ErrRange
	}
	return err
}

// sized matches a number of bytes: a number and a unit.
var sized = regexp.MustCompile(`^([0-9][0-9_,.]*(?:[eE]\+?[0-9]+)?) *([A-Za-z]*)$`)

// ParseSize parses the number of bytes, < 2⁶³, that is the value of a flag: 65536, 65_536, 64KiB or
// 1e6. The error says what is wanted.
func ParseSize(flag, s, want string) (int64, error) {
	if parts := sized.FindStringSubmatch(s); parts != nil {
		n, err := number(parts[1])
		unit, unitErr := humanize.ParseBytes("1" + parts[2])
		if n *= float64(unit); err == nil && unitErr == nil && n < math.MaxInt64 {
			return int64(n), nil
		}
	}
	return 0, UsageErrorf("%s is %s, want %s", flag, wire.Quote([]byte(s)), want)
}
