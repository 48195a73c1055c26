package command

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/set"
)

// writeTable writes a table, and its line for --manifest-line. Neither gets its name before both are on disk.
func (c *copier) writeTable(appendAll func(*copier) error) error {
	var outputs []*output.Output
	for _, name := range []string{c.out, c.summary} {
		if name == "" {
			continue
		}
		to, err := output.Create(c.cmd.Context(), name, c.stdout)
		if err != nil {
			return err
		}
		defer to.Abort() // does nothing after Commit
		temporary, err := to.Temporary()
		if err != nil {
			return err
		}
		outputs, c.temporary = append(outputs, to), append(c.temporary, temporary...)
	}
	w, complete, err := c.newTable(outputs)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	if err := c.fill(&boundedWriter{blockCounter: w, copier: c}, appendAll, complete); err != nil {
		return err
	}
	return output.Commit(outputs...)
}

// newTable returns a table's writer, and a function that completes the table and its line.
func (c *copier) newTable(outputs []*output.Output) (w blockCounter, complete func() error, err error) {
	if c.summary == "" {
		w, err := table.NewWriter(outputs[0], c.options)
		return w, w.Close, err
	}
	t, err := set.NewTableWriter(outputs[0], c.options)
	return t, func() error {
		line, err := t.Close()
		if err != nil {
			return err
		}
		line.Name = filepath.Base(c.out)
		return json.NewEncoder(outputs[1]).Encode(line)
	}, err
}

func (c *copier) writeDatabase(appendAll func(*copier) error) error {
	o := &database.WriterOptions{Table: *c.options, TableSize: c.tableSize}
	o.Table.Comparer = c.order
	if info, err := os.Stat(c.copyOf); err == nil && info.IsDir() {
		o.Mode = info.Mode().Perm()
	}
	w, err := output.Begin(func() (*database.Writer, error) { return database.Create(strings.TrimRight(c.out, "/"), o) })
	if err != nil {
		return err
	}
	defer output.Forget(w)
	defer w.Abort() // does nothing after Close
	var to appender = w
	if c.internal {
		to = versionAppender{w}
	}
	return c.fill(to, appendAll, func() error { return errors.Join(w.SetLastSequence(c.sequence), w.Close()) })
}

// tableSize returns the value of --table-size.
func tableSize(to *int64) pflag.Value {
	const most = 1 << 40 // as in package database
	return cli.Size(to, "2MiB", 1, most, "1 byte to 1TiB, such as 2MiB")
}

// A versionAppender appends internal keys to a database.
type versionAppender struct{ w *database.Writer }

func (a versionAppender) Append(key, value []byte) error {
	k, ok := internalkey.Parse(key)
	if !ok {
		return fmt.Errorf("key of %d bytes: not an internal key", len(key))
	}
	return a.w.AppendInternal(k, value)
}

func (c *copier) writeSet(appendAll func(*copier) error) error {
	t, err := c.newSetTarget(nil)
	if err != nil {
		return err
	}
	defer t.Abort() // does nothing after Commit
	var obsolete uint64
	err = c.fill(t, appendAll, func() (err error) {
		obsolete, err = t.commit()
		return err
	})
	if err != nil {
		return err
	}
	if obsolete > 0 {
		c.note("%s still contains %s of the previous set. Once no program reads them, and no build runs, run: sst sweep --age 0s --delete %s",
			c.out, text.Count(obsolete, "table"), format.ShellPath(c.out))
	}
	return nil
}

// newSetTable returns a writer for a table of a set. Most lookups in a table of removals miss, so it has both kinds
// of filter, whatever the other tables have.
func (c *copier) newSetTable(to io.Writer, removals bool) (set.TableAppender, error) {
	o, keys := *c.options, new(keyRange)
	if removals {
		o.FilterPolicy, o.TableFilterPolicy = filter.NewBloom(10), tablefilter.Checked{TablePolicy: filter.NewTableBloom(10), Stderr: c.cmd.ErrOrStderr()}
		o.FilterPrefix, o.Never = nil, nil
	} else if c.never != nil {
		o.Never = c.never.within(keys)
	}
	w, err := set.NewTableWriter(to, &o)
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
		return fmt.Errorf("key %s is both in the input and in --never %s: remove it from one of them", format.Quote(key), format.ShellPath(never.path))
	}
	if n := w.DataBlocks(); err == nil && n > w.blocks {
		w.blocks = n
		w.index += int64(len(key)) + indexEntryOverhead
		err = w.copier.limit.CheckIndex(w.index)
	}
	return err
}
