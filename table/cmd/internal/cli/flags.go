package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/printable"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// KeyFlags are the flags of commands that read keys.
type KeyFlags struct {
	From   string // a file with one key per line; -: standard input
	Format string // one of input.Formats; "": for a file, by its name; for arguments, keys
}

// Add adds the flags. purpose says what the command does with the keys of the file, and usual is the default
// Format.
func (f *KeyFlags) Add(cmd *cobra.Command, purpose, usual string) {
	cmd.Flags().StringVar(&f.From, "keys-from", "", purpose+" the lines of this `file`")
	AddInputFormat(cmd, &f.Format, usual)
}

// AddInputFormat adds the flag for the format of lines.
func AddInputFormat(cmd *cobra.Command, format *string, usual string) {
	cmd.Flags().Var(Choice(format, usual, input.Formats...), "input-format", "`format`: "+text.OneOf(input.Formats...))
}

// MaxBatchKeys is the maximum number of keys of --keys-from that are looked up at once. Together they have at
// most maxBatchBytes, unless a single key is longer.
const (
	MaxBatchKeys  = 100_000
	maxBatchBytes = 16 << 20
)

// DecodeAll decodes keys from arguments.
func (f *KeyFlags) DecodeAll(args []string) ([][]byte, error) {
	var keys [][]byte
	for _, arg := range args {
		key, err := input.ParseKey(arg, f.Format)
		if err != nil {
			return nil, UsageErrorf("key %s: %w", format.Quote([]byte(arg)), err)
		}
		keys = append(keys, key)
	}
	return keys, nil
}

// Batches yields the first keys and those of --keys-from in batches.
func (f *KeyFlags) Batches(first [][]byte, cmd *cobra.Command, outputs output.Files) iter.Seq2[[][]byte, error] {
	return batches(f.Lines(first, cmd, outputs), MaxBatchKeys)
}

// batches yields copies of keys in batches of up to most keys. It ends after an error.
func batches(keys iter.Seq2[[]byte, error], most int) iter.Seq2[[][]byte, error] {
	return func(yield func([][]byte, error) bool) {
		var batch [][]byte
		size := 0
		for key, err := range keys {
			if err != nil {
				yield(nil, err)
				return
			}
			if size += len(key); len(batch) >= most || size > maxBatchBytes {
				if !yield(batch, nil) {
					return
				}
				batch, size = nil, len(key)
			}
			batch = append(batch, bytes.Clone(key))
		}
		if len(batch) > 0 {
			yield(batch, nil)
		}
	}
}

// Lines yields the first keys and those of --keys-from, whose file must not be one of the outputs. A key is valid
// until the next one is read.
func (f *KeyFlags) Lines(first [][]byte, cmd *cobra.Command, outputs output.Files) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, key := range first {
			if !yield(key, nil) {
				return
			}
		}
		if f.From == "" {
			return
		}
		// Results are printed while keys are read: a bar would be drawn among them.
		r := &input.Reader{Paths: []string{f.From}, Stdin: cmd.InOrStdin(), Stderr: struct{ io.Writer }{cmd.ErrOrStderr()}}
		r.Options = input.Options{Format: f.Format, KeysOnly: true, Outputs: outputs}
		err := r.Options.Check(r.Paths, r.Stdin)
		if files.IsDir(f.From) {
			err = UsageErrorf("--keys-from %s is a directory, not a file of keys", format.ShellPath(f.From))
		}
		if err != nil {
			yield(nil, err)
			return
		}
		r.Keys(cmd.Context())(yield)
	}
}

// MemoryFlags has the flag of commands with a memory limit.
type MemoryFlags struct{ memory memory.Limit } // 0: not given

// Add adds the flag.
func (f *MemoryFlags) Add(cmd *cobra.Command) {
	v := Size(&f.memory, "", int64(memory.MinLimit), math.MaxInt64, "a size of at least 32MiB, such as 1GiB")
	cmd.Flags().Var(v, "memory", "memory `limit`, at least 32MiB")
	cmd.Flag("memory").DefValue = "1GiB"
}

// Limit returns the limit, and an error if there is not that much memory.
func (f *MemoryFlags) Limit() (memory.Limit, error) {
	if f.memory == 0 {
		return memory.Usual()
	}
	return f.memory, f.memory.Check()
}

// ErrNoPage is the error if the flag of AddPageFlag is missing.
var ErrNoPage = UsageErrorf("missing -o PAGE (use - for standard output)")

// AddPageFlag adds the flag that names the web page to write.
func AddPageFlag(cmd *cobra.Command, name *string) {
	cmd.Flags().StringVarP(name, "output", "o", "", "write the page to `PAGE`; -: standard output (required)")
}

// WritePage writes a web page to the named file. The file gets its name once the page is complete.
func WritePage(ctx context.Context, name string, page func(io.Writer) error, stdout io.Writer) error {
	return Interruptible(ctx, func(ctx context.Context) error {
		return output.WriteFile(ctx, name, stdout, func(to io.Writer) error {
			out := bufio.NewWriter(to)
			return cmp.Or(page(out), out.Flush()) // which fails with the same error
		})
	})
}

// A value is a pflag.Value that is parsed by a function.
type value[T any] struct {
	to    *T
	kind  string // returned by Type
	text  string // as given
	parse func(string) (T, error)
	words []string // allowed values; nil: any
}

func (v *value[T]) String() string { return v.text }
func (v *value[T]) Type() string   { return v.kind }

func (v *value[T]) Set(s string) (err error) {
	v.text = s
	*v.to, err = v.parse(s)
	return err
}

// Parsed returns a flag value that parse parses into *to. kind is its Type. The default is text or, if that is
// empty, the present *to. Unless flagTypes describes kind, errors of parse have the form "not a rate".
func Parsed[T any](to *T, kind, text string, parse func(string) (T, error)) pflag.Value {
	v := &value[T]{to: to, kind: kind, parse: parse}
	if text != "" {
		must(v.Set(text))
	}
	return v
}

// Choice returns a flag value that is one of the words, which shells complete. word is the default.
func Choice(to *string, word string, words ...string) pflag.Value {
	*to = word
	return &value[string]{to: to, kind: "string", text: word, words: words, parse: func(s string) (string, error) {
		if !slices.Contains(words, s) {
			return "", fmt.Errorf("not %s", text.OneOf(words...))
		}
		return s, nil
	}}
}

// Key returns a flag value that is a key with escapes. *to stays nil if the flag is not given.
func Key(to *[]byte) pflag.Value {
	return Parsed(to, "key", "", func(s string) ([]byte, error) {
		key, err := printable.Unescape(s)
		return append([]byte{}, key...), err
	})
}

// MaxCount is the largest limit of a count, for example of keys. It is below 2^53, up to which float64 represents
// every whole number.
const MaxCount = 1_000_000_000_000_000

// Count returns a flag value that is a number of keys, tables or the like, from 1 to most: 10000000000,
// 10_000_000_000, 10,000,000,000, 10e9 or 10G.
func Count[T int | uint64](to *T, text string, most uint64) pflag.Value {
	return Parsed(to, "value", text, func(s string) (T, error) {
		n, err := wholeNumber(s)
		if err == nil && n >= 1 && uint64(n) <= most {
			return T(n), nil
		}
		limit, example := fmt.Sprint(most), "10_000_000, 10e6 or 10M"
		switch {
		case most == MaxCount:
			limit = "1e15"
		case most < 10e6:
			example = "10_000, 10e3 or 10k"
		}
		return 0, fmt.Errorf("not a whole number from 1 to %s, such as %s", limit, example)
	})
}

// CountVar defines a flag for a number of things. It accepts the forms that Count does, and also 0 and negative
// numbers, which the command may reject.
func CountVar(flags *pflag.FlagSet, p *int, name, shorthand string, n int, usage string) {
	flags.VarP(Parsed(p, "int", strconv.Itoa(n), func(s string) (int, error) {
		n, err := wholeNumber(s)
		if int64(int(n)) != n {
			return 0, strconv.ErrRange
		}
		return int(n), err
	}), name, shorthand, usage)
}

// Size returns a flag value that is a number of bytes from least to most: 65536, 65_536, 64KiB or 1e6. Errors are
// "not " and values, a description of the allowed values.
func Size[T ~int64 | ~uint64](to *T, text string, least, most int64, values string) pflag.Value {
	return Parsed(to, "value", text, func(s string) (T, error) {
		n, unit, err := number(s)
		factor, unitErr := humanize.ParseBytes("1" + unit)
		n = times(n, float64(factor))
		if errors.Join(err, unitErr) != nil || math.Signbit(n) || n >= math.MaxInt64 || int64(n) < least || int64(n) > most {
			return 0, errors.New("not " + values)
		}
		return T(n), nil
	})
}

// countUnits are the units of a number of things.
var countUnits = map[string]float64{"": 1, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}

// wholeNumber parses a whole number that may have a unit, such as 1M. For more than 18 digits, it returns
// strconv.ErrRange.
func wholeNumber(s string) (int64, error) {
	n, unit, err := number(s)
	factor := countUnits[unit]
	n = times(n, factor)
	switch {
	case err != nil || factor == 0 || unit != "" && strings.Contains(s, ",") || n != math.Trunc(n):
		return 0, strconv.ErrSyntax
	case n == 0 && math.Signbit(n): // -0, or a number rounded to it, would pass a check for >= 0
		return 0, strconv.ErrSyntax
	case math.Abs(n) >= 1e18:
		return 0, strconv.ErrRange
	}
	return int64(n), nil
}

// times returns n * factor. If n is the float64 next to a decimal number, such as 4.1, whose product is whole, it
// returns exactly that: as float64s, 4.1 * 1e9 is less than 4,100,000,000.
func times(n, factor float64) float64 {
	if whole := math.Round(n * factor); whole/factor == n {
		return whole
	}
	return n * factor
}

// numbers matches a number and its unit. The first alternative has commas between groups of three digits.
var numbers = regexp.MustCompile(`^ *([-+]?[0-9]{1,3}(?:,[0-9]{3})+|[-+]?[0-9_]*\.?[0-9_]*(?:[eE][-+]?[0-9]+)?) *([A-Za-z]*) *$`)

// number parses 1000000, 1_000_000, 1,000,000 or 1e6 and a unit.
func number(s string) (n float64, unit string, err error) {
	parts := numbers.FindStringSubmatch(s)
	if parts == nil {
		return 0, "", strconv.ErrSyntax
	}
	n, err = strconv.ParseFloat(strings.NewReplacer(",", "", "_", "").Replace(parts[1]), 64)
	return n, parts[2], err
}
