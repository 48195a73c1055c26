package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/database"
)

const maxTableSize = 1 << 40 // of package database

// parseTableSize parses --table-size.
func parseTableSize(value string) (int64, error) {
	size, err := cli.ParseSize("--table-size", value, "1 byte to 1TiB, such as 2MiB")
	if err == nil && (size < 1 || size > maxTableSize) {
		err = cli.UsageErrorf("--table-size is %s, want 1 byte to 1TiB", value)
	}
	return size, err
}

// checkDatabase checks the directory of --database.
func (f *buildFlags) checkDatabase() error {
	if f.database && f.out == "-" {
		return cli.UsageErrorf("-o is - and --database is given, want a directory for the database")
	}
	return nil
}

// missingOut is the error if OUT is not given.
func (f *buildFlags) missingOut() error {
	if f.database {
		return cli.UsageErrorf("missing -o OUT, a new directory for the database")
	}
	return errNoOutputTable
}

// order returns the order of user keys.
func (f *buildFlags) order() (table.Comparer, error) {
	if !f.database {
		return table.BytewiseComparer, nil
	}
	return comparers.ByFlagValue(f.comparator)
}

// writeDatabase builds a database.
func (b *build) writeDatabase() error {
	size, err := parseTableSize(b.tableSize)
	if err != nil {
		return err
	}
	if err := b.checkInputs(); err != nil {
		return err
	}
	noteNotRepaired(b.read.Stderr, b.compression)
	o := &database.WriterOptions{Table: *b.options, TableSize: size, Mode: modeOfDatabase(b.copyOf)}
	o.Table.Comparer = b.userOrder
	w, err := database.Create(strings.TrimRight(b.out, "/"), o)
	if err != nil {
		return err
	}
	defer w.Abort() // does nothing after Close
	var to appender = w
	if b.internalKeys {
		to = versionAppender{w}
	}
	if err := b.appendAll(to); err != nil {
		return err
	}
	if b.read.N == 0 {
		text.Note(b.read.Stderr, "the input has no pairs, so %s is a database without keys", b.out)
	}
	return filterfile.ExplainTooManyKeys(errors.Join(w.SetLastSequence(b.sequence), w.Close()))
}

// modeOfDatabase returns the permissions of a directory, or 0 if a path is none.
func modeOfDatabase(path string) fs.FileMode {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return info.Mode().Perm()
	}
	return 0
}

// A versionAppender appends internal keys to a database.
type versionAppender struct{ w *database.Writer }

func (a versionAppender) Append(key, value []byte) error {
	k, ok := table.ParseInternalKey(key)
	if !ok {
		return fmt.Errorf("key of %d bytes, want an internal key", len(key))
	}
	return a.w.AppendInternal(k, value)
}
