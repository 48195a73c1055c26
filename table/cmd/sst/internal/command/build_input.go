package command

import (
	"context"
	"io"
	"iter"
	"os"
	"regexp"
	"sync"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// An inputReader reads the inputs of build.
type inputReader struct {
	paths   []string
	stdin   io.Reader
	options input.Options
	stderr  io.Writer
	n       int         // number of pairs read
	place   input.Place // of the last pair
}

// pairs returns the pairs, and shows progress.
func (r *inputReader) pairs(ctx context.Context) iter.Seq2[input.Pair, error] {
	bar := progress.Bytes(r.stderr, totalSize(r.paths), "reading")
	r.options.WrapReader, r.options.Place = bar.Reader, &r.place
	r.options.OnLeftOut = func(path string) {
		text.Line(r.stderr, "sst: note: skipped %s, because it is the output", path)
	}
	pairs := countPairs(input.Read(ctx, r.paths, r.stdin, r.options), &r.n, bar.Done)
	if !r.options.InternalKeys {
		pairs = hintInternalKeys(pairs, r.stderr)
	}
	return pairs
}

// looksLikeVersion matches a value that starts with a sequence number and a kind, as with
// --internal-keys.
var looksLikeVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\t(set|delete)\t`) })

// hintInternalKeys prints a note if the first pair looks like a version of an internal key.
func hintInternalKeys(pairs iter.Seq2[input.Pair, error], stderr io.Writer) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		first := true
		for pair, err := range pairs {
			if first && looksLikeVersion().Match(pair.Value) {
				text.Line(stderr, "sst: note: the values start with a sequence number and a kind: to make these part of the keys, use --internal-keys")
			}
			first = false
			if !yield(pair, err) {
				return
			}
		}
	}
}

// countPairs counts pairs in n, and calls done at the end.
func countPairs(pairs iter.Seq2[input.Pair, error], n *int, done func()) iter.Seq2[input.Pair, error] {
	return func(yield func(input.Pair, error) bool) {
		defer done()
		for pair, err := range pairs {
			if *n++; !yield(pair, err) {
				return
			}
		}
	}
}

// totalSize returns the size of all inputs, or -1 if it is unknown.
func totalSize(inputs []string) int64 {
	var n int64
	for _, path := range inputs {
		info, err := os.Stat(path)
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		n += info.Size()
	}
	return n
}
