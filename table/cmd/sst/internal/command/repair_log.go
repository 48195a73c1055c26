package command

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// A logRepair writes the newest write of each key of a log to a table.
type logRepair struct {
	*repairFlags
	path     string
	internal bool // the table has internal keys, else user keys
	limit    memory.Limit
	writes   uint64 // that could be read
	keys     uint64 // of which these are
	deleted  uint64 // keys whose newest write is a deletion
}

// repairLog writes the newest write of each key of a log to a table. found says whether it is a log: one
// that has a write, or is empty.
func (f *repairFlags) repairLog(cmd *cobra.Command, path string, o source.Options, limit memory.Limit) (found bool, err error) {
	if err := o.Outputs.CheckAll([]string{path}); err != nil {
		return false, err
	}
	l := &logRepair{repairFlags: f, path: path, internal: o.InternalKeys != dbfile.No, limit: limit}
	var notes []string
	o.InternalKeys, o.FindMore, o.Note = dbfile.Auto, true, func(note string) { notes = append(notes, note) }
	s, err := source.OpenSource(path, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Order == table.AnyOrder {
		return false, fmt.Errorf("%s: the order of keys is unknown, so the writes cannot be sorted: %s", path, comparers.Advice())
	}
	err = cli.Interruptible(cmd.Context(), func(ctx context.Context) error { return l.write(ctx, s) })
	if err != nil || l.hasNone() {
		return false, err
	}
	report := func(out io.Writer) { l.report(out, append(text.Lines(s.LogDamage()), notes...)) }
	if err := l.print(cmd.OutOrStdout(), repaired{Source: path, Pairs: l.keys}, nil, report); err != nil {
		return true, err
	}
	if l.internal && l.keys > 0 {
		noteNotRepaired(cmd.ErrOrStderr(), f.compression)
	}
	if s.LogDamage() != nil {
		err = damageReported{}
	}
	return true, err
}

// hasNone reports whether no write could be read of a log that is not empty.
func (l *logRepair) hasNone() bool { return l.writes == 0 && !dbfile.IsEmpty(l.path) }

// write writes the table, unless no write could be read.
func (l *logRepair) write(ctx context.Context, s *source.Source) error {
	o, err := l.limitedOptions(l.internal, s.Order, l.limit)
	if err != nil {
		return err
	}
	to, err := output.Create(ctx, l.out, nil)
	if err != nil {
		return err
	}
	return writeTable(to, o, func(w *table.Writer) (keep bool, err error) {
		err = l.appendNewest(ctx, &boundedWriter{blockCounter: w, limit: l.limit}, s)
		return !l.hasNone(), err
	})
}

// appendNewest appends the newest write of each key. User keys have no deletions.
func (l *logRepair) appendNewest(ctx context.Context, w appender, s *source.Source) error {
	var last []byte
	for e, err := range s.Scan(source.ScanOptions{Versions: true, InOrder: true}) {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if l.writes++; l.keys > 0 && s.SameKey(e.Key, last) {
			continue
		}
		l.keys++
		last = append(last[:0], e.Key...)
		if e.Kind == table.KindDelete {
			l.deleted++
		}
		key := e.Key
		if l.internal {
			key = table.InternalKey{UserKey: e.Key, Sequence: e.Sequence, Kind: e.Kind}.Append(nil)
		} else if e.Kind == table.KindDelete {
			continue
		}
		if err := w.Append(key, e.Value); err != nil {
			return err
		}
	}
	return nil
}

// report prints what was lost, and what was written.
func (l *logRepair) report(out io.Writer, lost []string) {
	for _, line := range lost {
		text.Line(out, "%s", line)
	}
	keys, rest := l.keys, ""
	switch {
	case l.deleted > 0 && l.internal:
		rest = ", including " + text.Count(l.deleted, "deletion")
	case !l.internal:
		keys -= l.deleted
		rest = ", without " + text.Count(l.deleted, "key") + " whose newest write is a deletion"
	}
	text.Line(out, "%s: wrote the newest of %s to %s: %s%s", l.path, text.Count(l.writes, "write"), l.out, text.Count(keys, "key"), rest)
}
