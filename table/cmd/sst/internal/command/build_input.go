package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/sievetable/sievetable/internal/keylines"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/input"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/sorting"
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
	marked  string      // the last note about a byte order mark
}

// pairs returns the pairs, and shows progress.
func (r *inputReader) pairs(ctx context.Context) iter.Seq2[input.Pair, error] {
	bar := progress.Bytes(r.stderr, totalSize(r.paths), "reading")
	r.options.WrapReader, r.options.Place = bar.Reader, &r.place
	r.options.OnLeftOut = func(path string) {
		text.Line(r.stderr, "sst: note: skipped %s, because it is the output", path)
	}
	r.options.OnCarriageReturns = func(name, part string) {
		text.Line(r.stderr, `sst: note: every line of %s ends in "\r", which is part of each %s: to remove it, use tr -d '\r' on the input`, name, part)
	}
	r.options.OnByteOrderMark = func(name string, kept bool) {
		note := keylines.MarkNote(name)
		if kept {
			note = name + ` starts with a UTF-8 byte order mark, which is part of the first key: to remove it, use sed '1s/^\xef\xbb\xbf//' on the input`
		}
		if r.marked != note { // plan reads an input twice
			text.Line(r.stderr, "sst: note: %s", note)
		}
		r.marked = note
	}
	return func(yield func(input.Pair, error) bool) {
		defer bar.Done()
		first := !r.options.InternalKeys
		for pair, err := range input.Read(ctx, r.paths, r.stdin, r.options) {
			if first && looksLikeVersion().Match(pair.Value) {
				text.Line(r.stderr, "sst: note: the values start with a sequence number and a kind: to make these part of the keys, use --internal-keys")
			}
			first = false
			if r.n++; !yield(pair, err) {
				return
			}
		}
	}
}

// looksLikeVersion matches a value that starts with a sequence number and a kind, as with
// --internal-keys.
var looksLikeVersion = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]+\t(set|delete)\t`) })

// totalSize returns the size of all files, or -1 if it is unknown. Missing files count as empty.
func totalSize(paths []string) int64 {
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

// progressEvery is after how many entries a loop shows its progress.
const progressEvery = 1 << 12

// appendSorted appends the pairs in the order of the input.
func (r *inputReader) appendSorted(w appender, pairs iter.Seq2[input.Pair, error]) error {
	for pair, err := range pairs {
		if err == nil {
			err = w.Append(pair.Key, pair.Value)
		}
		if errors.Is(err, table.ErrOrder) {
			return fmt.Errorf("%v: %s: sort the input bytewise, as by LC_ALL=C sort, or leave out --sorted", r.place, strings.TrimPrefix(err.Error(), "table: "))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// drops reports whether a record is left out, which comes after another one.
func (f *buildFlags) drops(before, r sorting.Record) bool {
	switch f.onDuplicate {
	case "count":
		return false // a keyCounter wants them all
	case "last":
		return r.NextSameKey
	}
	return before.NextSameKey
}

// showWriting shows how many of the records are written. It starts at the first record, when
// their number is known.
func (r *inputReader) showWriting(records iter.Seq2[sorting.Record, error]) iter.Seq2[sorting.Record, error] {
	return func(yield func(sorting.Record, error) bool) {
		bar := sync.OnceValue(func() *progress.Bar { return progress.Count(r.stderr, int64(r.n), "writing", "pairs") })
		defer func() { bar().Done() }()
		for record, err := range records {
			if record.Number%progressEvery == 0 && err == nil {
				bar().Add(progressEvery)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// appendDeduplicated appends the sorted records that are not left out, such as at most one of each key.
func (f *buildFlags) appendDeduplicated(w appender, records iter.Seq2[sorting.Record, error], read *inputReader) error {
	var before sorting.Record
	dropped := 0
	for r, err := range read.showWriting(records) {
		if err != nil {
			return err
		}
		if before.NextSameKey && f.onDuplicate == "error" {
			return fmt.Errorf("key %s appears twice, as pairs %d and %d of the input: to keep one of them, use --on-duplicate first or last; to store how often each key occurs, --on-duplicate count", wire.Quote(r.Key), before.Number+1, r.Number+1)
		}
		drop := f.drops(before, r)
		if before = r; drop {
			dropped++
			continue
		}
		if err := appendRecord(w, r); err != nil {
			return err
		}
	}
	if dropped > 0 {
		text.Line(read.stderr, "sst: note: skipped %s with a repeated key", text.Count(uint64(dropped), "pair"))
	}
	return nil
}
