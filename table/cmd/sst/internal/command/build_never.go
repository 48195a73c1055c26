package command

import (
	"bufio"
	"errors"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/merge"
)

// A keyList has the keys of --never or --delete in their order: a table in a temporary file, which can be
// read several times.
type keyList struct {
	file tempfile.File
	r    *table.Reader
}

// checkNever checks the flags that --never depends on.
func (b *build) checkNever() error {
	switch {
	case b.never == "":
		return nil
	case b.options.TableFilterPolicy == nil:
		return cli.UsageErrorf("--never is given, but there is no filter of the whole table: want --table-filter fuse:12, or --filter-only")
	}
	return b.checkList("--never", b.never)
}

// checkList returns an error if a list of keys is standard input, and an input or another list is too.
func (b *build) checkList(flag, path string) error {
	switch {
	case path != "-":
	case slices.Contains(b.inputs, "-"):
		return cli.UsageErrorf("%s is -, and the input is standard input too: want a file for one of them", flag)
	case b.never == "-" && b.delete == "-":
		return cli.UsageErrorf("--never and --delete are both -, want a file for one of them")
	}
	return nil
}

// readNever reads and sorts the keys of --never, if it is given, and sets the option of the table.
func (b *build) readNever() error {
	if b.never == "" {
		return nil
	}
	b.options.Never = b.good.within(new(keyRange))
	return b.readList(&b.good, b.never, b.read.Options)
}

// readList reads and sorts the keys of a file.
func (b *build) readList(l *keyList, path string, o input.Options) error {
	if err := l.file.Create(b.tempDir); err != nil {
		return err
	}
	read := &input.Reader{Paths: []string{path}, Stdin: b.read.Stdin, Stderr: b.read.Stderr, Options: o}
	size, err := l.write(input.Sort(b.ctx, read.Pairs(b.ctx), sortOptions(b.options, b.limit, b.tempDir)), b.options.Comparer)
	if err != nil {
		return err
	}
	l.r, err = table.NewReader(l.file, size, &table.ReaderOptions{Comparer: b.options.Comparer})
	return err
}

// write writes the sorted keys to the temporary file, and returns its size.
func (k *keyList) write(records iter.Seq2[*merge.Sorted, error], order table.Comparer) (size int64, err error) {
	out := bufio.NewWriterSize(k.file, 1<<20)
	w, err := table.NewWriter(out, &table.WriterOptions{Comparer: order, BlockSize: 64 << 10})
	if err != nil {
		return 0, err
	}
	defer w.Abort() // does nothing after Close
	for r, err := range records {
		if err == nil && !r.NextSameKey {
			err = w.Append(r.Key, nil)
		}
		if err != nil {
			return 0, err
		}
	}
	err = errors.Join(w.Close(), out.Flush())
	return w.Size(), err
}

// A keyRange is the keys of a table that is being written, as far as they are known.
type keyRange struct {
	first, last []byte // nil: there is none yet
	whole       bool   // there are no more
}

func (r *keyRange) add(key []byte) {
	if r.first == nil {
		r.first = wire.AppendNotNil(nil, key)
	}
	r.last = wire.AppendNotNil(r.last[:0], key)
}

// within returns the keys that a table of these keys can be asked for, for WriterOptions.Never: without
// a first key, all of them. In a set, no other key is asked of the table.
func (k *keyList) within(keys *keyRange) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		o := &table.IterOptions{Lower: keys.first, ReadAhead: 256 << 10}
		if keys.whole {
			o.Upper = append(wire.AppendNotNil(nil, keys.last), 0)
		}
		for e, err := range k.r.All(o) {
			if !yield(e.Key, err) || err != nil {
				return
			}
		}
	}
}

// bounded returns a writer of a table with bounded memory.
func (b *build) bounded(w blockCounter) *boundedWriter {
	return &boundedWriter{blockCounter: w, limit: b.limit, never: b.never}
}

// closeLists removes the temporary files of --never and --delete.
func (b *build) closeLists() error { return errors.Join(b.good.file.Close(), b.removed.file.Close()) }
