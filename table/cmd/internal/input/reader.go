package input

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"regexp"
	"sync"

	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Reader reads inputs, with progress and notes on Stderr.
type Reader struct {
	Paths   []string
	Stdin   io.Reader
	Stderr  io.Writer
	Options Options
	N       int    // number of pairs read
	Place   Place  // of the last pair
	marked  string // the last note about a byte order mark
}

// Pairs returns the pairs, and shows progress.
func (r *Reader) Pairs(ctx context.Context) iter.Seq2[Pair, error] {
	bar := progress.Bytes(r.Stderr, TotalSize(r.Paths), "reading")
	r.Options.WrapReader, r.Options.Place = bar.Reader, &r.Place
	r.Options.OnLeftOut = func(path string) {
		text.Note(r.Stderr, "skipped %s, because it is the output", path)
	}
	r.Options.OnCarriageReturns = func(name, part string) {
		text.Note(r.Stderr, `every line of %s ends in "\r", which is part of each %s: to remove it, use tr -d '\r' on the input`, name, part)
	}
	r.Options.OnByteOrderMark = func(name string, kept bool) {
		note := keylines.MarkNote(name)
		if kept {
			note = name + ` starts with a UTF-8 byte order mark, which is part of the first key: to remove it, use sed '1s/^\xef\xbb\xbf//' on the input`
		}
		if r.marked != note { // plan reads an input twice
			text.Note(r.Stderr, "%s", note)
		}
		r.marked = note
	}
	return func(yield func(Pair, error) bool) {
		defer bar.Done()
		first, tabs := !r.Options.InternalKeys, false
		for pair, err := range Read(ctx, r.Paths, r.Stdin, r.Options) {
			if first && looksLikeVersion().Match(pair.Value) {
				text.Note(r.Stderr, "the values start with a sequence number and a kind: to make these part of the keys, use --internal-keys")
			}
			first = false
			if !tabs && r.Options.Format == "" && bytes.IndexByte(pair.Key, '\t') >= 0 && r.Options.formatOf(r.Place.Name) == "raw-keys" {
				tabs = true
				text.Note(r.Stderr, "lines of %s have tabs, which are part of the keys: for keys and values, use --input-format tsv, or raw without escapes", r.Place.Name)
			}
			if r.N++; !yield(pair, err) {
				return
			}
		}
	}
}

// looksLikeVersion matches a value that starts with a sequence number and a kind, as with
// --internal-keys.
var looksLikeVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\t(set|delete)\t`) })

// TotalSize returns the size of all files, or -1 if it is unknown. Missing files count as empty.
func TotalSize(paths []string) int64 {
	var n int64
	for _, path := range paths {
		info, err := os.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		n += info.Size()
	}
	return n
}
