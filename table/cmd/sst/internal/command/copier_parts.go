package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/input"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/partition"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/set"
)

// writeDatabase writes a database.
func (c *copier) writeDatabase(appendAll func(*copier) error) error {
	size, err := cli.ParseSize("--table-size", c.tableSize, "1 byte to 1TiB, such as 2MiB")
	if err == nil && (size < 1 || size > maxTableSize) {
		err = cli.UsageErrorf("--table-size is %s, want 1 byte to 1TiB", c.tableSize)
	}
	if err != nil {
		return err
	}
	o := &database.WriterOptions{Table: *c.options, TableSize: size}
	o.Table.Comparer = c.order
	if info, err := os.Stat(c.copyOf); err == nil && info.IsDir() {
		o.Mode = info.Mode().Perm()
	}
	w, err := database.Create(strings.TrimRight(c.out, "/"), o)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	var to appender = w
	if c.internal {
		to = versionAppender{w}
	}
	if err := c.fill(to, appendAll); err != nil {
		return err
	}
	if c.database && c.pairs == 0 {
		c.note("the input has no pairs, so %s is a database without keys", c.out)
	}
	return filterfile.ExplainTooManyKeys(errors.Join(w.SetLastSequence(c.sequence), w.Close()))
}

const maxTableSize = 1 << 40 // of package database

// A versionAppender appends internal keys to a database.
type versionAppender struct{ w *database.Writer }

func (a versionAppender) Append(key, value []byte) error {
	k, ok := table.ParseInternalKey(key)
	if !ok {
		return fmt.Errorf("key of %d bytes, want an internal key", len(key))
	}
	return a.w.AppendInternal(k, value)
}

// writeSet writes a set.
func (c *copier) writeSet(appendAll func(*copier) error) error {
	o, err := c.partition()
	if err != nil {
		return err
	}
	w, err := partition.Create(c.ctx, o)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Commit
	if err := c.fill(w, appendAll); err != nil {
		return err
	}
	obsolete, err := w.Commit()
	if err != nil {
		return filterfile.ExplainTooManyKeys(err)
	}
	if c.pairs == 0 {
		c.note("the input has no pairs, so %s is a set without tables", c.out)
	}
	if obsolete > 0 {
		c.note("%s still has %s of the set that was there before: when nobody reads them any more, run: sst sweep --delete %s", c.out, text.Count(uint64(obsolete), "table"), text.ShellPath(c.out))
	}
	return nil
}

// partition returns the options of a set or of a layer.
func (c *copier) partition() (o partition.Options, err error) {
	entries, err := cli.ParseCount("--entries-per-table", c.entriesPerTable, tablefilter.MaxEntries)
	o = partition.Options{Dir: c.out, Entries: int(entries), Extension: ".ldb", TempDir: c.tempDir}
	if c.filterOnly {
		o.Extension = ".filter"
	}
	o.NewTable = func(to io.Writer) (partition.TableWriter, error) {
		o, keys := *c.options, new(keyRange)
		if c.never != nil {
			o.Never = c.never.within(keys)
		}
		return c.newPart(to, &o, keys)
	}
	return o, err
}

// newPart returns the writer of a table of a set.
func (c *copier) newPart(to io.Writer, o *table.WriterOptions, keys *keyRange) (partition.TableWriter, error) {
	w, err := set.NewTableWriter(to, o)
	if err != nil {
		return nil, err
	}
	return &partTable{boundedWriter{blockCounter: w, copier: c}, w, keys}, nil
}

// A partTable is a table of a set, with bounded memory.
type partTable struct {
	boundedWriter
	w    *set.TableWriter
	keys *keyRange
}

func (t *partTable) Append(key, value []byte) error {
	t.keys.add(key)
	return t.boundedWriter.Append(key, value)
}

func (t *partTable) Close() (set.Table, error) {
	t.keys.whole = true
	return t.w.Close()
}

// A blockCounter is a table.Writer or a set.TableWriter.
type blockCounter interface {
	appender
	DataBlocks() int
	Abort() error
}

// A boundedWriter is a Writer that limits the size of the index to a share of --memory. The
// Writer keeps the index in memory until the table is finished. It has a separator per data
// block, which can be as long as a key.
type boundedWriter struct {
	blockCounter
	copier *copier
	blocks int
	index  int64 // upper bound of the size of the index
}

// indexEntryOverhead is the approximate size of an index entry without its separator.
const indexEntryOverhead = 16

func (w *boundedWriter) Append(key, value []byte) error {
	err := w.blockCounter.Append(key, value)
	if never := w.copier.never; never != nil && errors.Is(err, table.ErrNever) {
		return fmt.Errorf("key %s is in the input, and in --never %s: remove it from one of them", wire.Quote(key), text.ShellPath(never.path))
	}
	if n := w.DataBlocks(); err == nil && n > w.blocks {
		w.blocks = n
		w.index += int64(len(key)) + indexEntryOverhead
		err = w.copier.limit.CheckIndex(w.index)
	}
	return err
}

// A keyList has the keys of --never or --delete in their order: a table in a temporary file, which can be
// read several times.
type keyList struct {
	path string
	file tempfile.File
	r    *table.Reader
}

// read reads and sorts the keys.
func (l *keyList) read(c *copier, in input.Reader) error {
	if err := l.file.Create(c.tempDir); err != nil {
		return err
	}
	in.Paths = []string{l.path}
	order, out := c.options.Comparer, bufio.NewWriterSize(l.file, 1<<20)
	w, err := table.NewWriter(out, &table.WriterOptions{Comparer: order, BlockSize: 64 << 10})
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if _, err := appendChosen(&chooser{to: w, keysOnly: true}, input.Sort(c.ctx, in.Pairs(c.ctx), c.sorting()), ruleFirst); err != nil {
		return err
	}
	if err := errors.Join(w.Close(), out.Flush()); err != nil {
		return err
	}
	l.r, err = table.NewReader(l.file, w.Size(), &table.ReaderOptions{Comparer: order})
	return err
}

// within returns the keys that a table of these keys can be asked for, for WriterOptions.Never: without
// a first key, all of them. In a set, no other key is asked of the table.
func (l *keyList) within(keys *keyRange) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		o := &table.IterOptions{Lower: keys.first, ReadAhead: 256 << 10}
		if keys.whole {
			o.Upper = append(wire.AppendNotNil(nil, keys.last), 0)
		}
		for e, err := range l.r.All(o) {
			if !yield(e.Key, err) || err != nil {
				return
			}
		}
	}
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
