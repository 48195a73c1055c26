package command

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A databaseRepair writes the newest pairs of a database to a new one.
type databaseRepair struct {
	*source.Source
	flags     []string // given flags, for a command that repairs again
	certain   bool     // uncertain pairs are left out
	uncertain uint64   // number of pairs whose newer versions or deletions may be lost
}

func (f *repairFlags) repairDatabase(cmd *cobra.Command, dir string) error {
	if isWithin(f.to.out, dir) {
		return cli.UsageErrorf("-o is %s, inside %s: use a directory outside", f.to.out, dir)
	}
	limit, release, err := f.to.givenLimit()
	if err != nil {
		return err
	}
	defer release()
	f.from.ScanOnly, f.from.Repair, f.from.Salvage = true, true, true
	defer f.from.showProgress(cmd.ErrOrStderr(), "copying", dir)()
	return f.from.with(dir, cmd.ErrOrStderr(), func(s *source.Source) error {
		switch {
		case s.Order == table.AnyOrder:
			return fmt.Errorf("%s: the key order is unknown, and engines need it, so nothing was written: %s", s.Path, comparers.Advice())
		case s.HasUserKeys():
			return fmt.Errorf("%s: not a database, as the keys are not internal keys: to merge the tables, run: %s",
				s.Path, files.MergeLine("--all-tables ", s.Path, "NEW.ldb"))
		}
		f.to.retainCompression([]*source.Source{s})
		c, err := f.to.newCopier(cmd, true, s.Order, limit)
		if err != nil {
			return err
		}
		c.copyOf = s.Path
		r := &databaseRepair{Source: s, flags: givenFlags(cmd), certain: f.certain}
		err = c.writeDatabase(r.appendNewest)
		if errors.Is(err, table.ErrOrder) {
			if err = s.SortDisordered(); err == nil {
				err = c.writeDatabase(r.appendNewest)
			}
		}
		done, err := c.repaired(dir, err)
		if err != nil {
			return err
		}
		lost := lostFrom(s)
		if doubt := r.doubt(); doubt != "" && !r.isDamaged() { // only the notes say why
			lost = &dbfile.FileError{Path: s.Path, Err: dbfile.Corruption(doubt)}
		}
		return errors.Join(lost, f.print(cmd.OutOrStdout(), done, r.report(c, done), errors.Join(lost, s.LogDamage(), s.Damage)))
	})
}

func (r *databaseRepair) isDamaged() bool {
	return r.Damage != nil || r.LogDamage() != nil || len(r.Losses(source.KeyRange{})) > 0
}

// doubt says what may be lost without damage, or returns "".
func (r *databaseRepair) doubt() string {
	switch {
	case r.uncertain > 0:
		return "newer versions or deletions of these pairs may be lost"
	case r.MayLackWrites():
		return "writes may be lost"
	}
	return ""
}

// appendNewest appends the newest version of each key. If it keeps none, and the database may have had some, it
// returns errNothingLeft.
func (r *databaseRepair) appendNewest(c *copier) error {
	lost := r.NewLossCursor()
	r.uncertain, c.sequence = 0, r.LastSequence()
	var key []byte
	for e, err := range r.Scan(source.ScanOptions{Tombstones: true}) {
		if err = errors.Join(err, c.cmd.Context().Err()); err != nil {
			return err
		}
		if c.sequence = max(c.sequence, e.Sequence); e.Kind == internalkey.Delete {
			continue
		}
		if !lost.IsCertain(e) {
			if r.uncertain++; r.certain {
				continue
			}
		}
		key = internalkey.Key{UserKey: e.Key, Sequence: e.Sequence, Kind: internalkey.Set}.Append(key[:0])
		if err := c.Append(key, e.Value); err != nil {
			return err
		}
	}
	if c.pairs == 0 && (r.doubt() != "" || r.isDamaged()) {
		return errNothingLeft
	}
	return nil
}

// report says what was written.
func (r *databaseRepair) report(c *copier, done repaired) []string {
	report := fileReport{path: r.Path}
	if done.Out == "" {
		report.add("found no pair to keep: %s was not written", c.out)
	} else {
		report.add("wrote %s to %s", text.Count(c.pairs, "pair"), c.out)
	}
	switch {
	case r.uncertain > 0 && r.certain:
		report.add("left out %s that may be outdated, or may have been deleted", text.Count(r.uncertain, "pair"))
	case r.uncertain == c.pairs && c.pairs > 0: // --certain would leave none
		report.add("all of them may be outdated, or may have been deleted")
	case r.uncertain > 0:
		report.add("%s of them may be outdated, or may have been deleted: to leave these out, run: sst repair --certain %s -o %s",
			humanize.Comma(int64(r.uncertain)), strings.Join(append(r.flags, format.ShellPath(r.Path)), " "), format.ShellPath(filepath.Clean(c.out)+".certain"))
	}
	return report.lines
}

// givenFlags returns the given flags that affect reading and writing, except --certain.
func givenFlags(cmd *cobra.Command) (flags []string) {
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch value := f.Value.String(); {
		case slices.Contains([]string{"output", "json", "certain"}, f.Name):
		case f.Value.Type() == "bool" && value == "true":
			flags = append(flags, "--"+f.Name)
		default:
			flags = append(flags, "--"+f.Name+"="+format.ShellWord(value))
		}
	})
	return flags
}

// fewLosses is the number of lost ranges that a repair names one by one. The report counts pairs that may be
// outdated.
const fewLosses = 8

// lostFrom returns an error for each range of keys that a source has lost or, if there are many, for each file.
func lostFrom(s *source.Source) error {
	losses := s.Losses(source.KeyRange{})
	if len(losses) > fewLosses && s.Order != table.AnyOrder {
		losses = s.ByFile(losses)
	}
	return namedLosses(s, losses, "")
}

// A logRepair writes the newest write of each key of a log to a table.
type logRepair struct {
	*source.Source
	writes  uint64 // readable writes
	keys    uint64 // different keys of these writes
	deleted uint64 // keys whose newest write is a deletion
}

// repairLog writes the newest write of each key of a log to a table. found is false if the file is not a log: it has
// no write, and is not empty.
func (f *repairFlags) repairLog(cmd *cobra.Command, path string, o source.Options, limit memory.Limit) (found bool, err error) {
	if err := o.Outputs.CheckAll([]string{path}); err != nil {
		return false, err
	}
	internal := o.InternalKeys != dbfile.No // keys of the new table
	var notes []string
	o.InternalKeys, o.Note = dbfile.Auto, func(note string) { notes = append(notes, note) }
	s, err := source.OpenSource(path, o)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if s.Order == table.AnyOrder {
		return false, fmt.Errorf("%s: the key order is unknown, so the writes cannot be sorted: %s", path, comparers.Advice())
	}
	c, err := f.to.newCopier(cmd, internal, s.Order, limit)
	if err != nil {
		return false, err
	}
	c.stdout = nil
	l := &logRepair{Source: s}
	done, err := c.repaired(path, c.writeTable(l.appendNewest))
	if err != nil || done.Out == "" {
		return false, err
	}
	err = f.print(cmd.OutOrStdout(), done, slices.Concat(l.report(c), text.Lines(s.LogDamage()), notes), nil)
	if err == nil && s.LogDamage() != nil {
		err = damageReported{}
	}
	return true, err
}

// appendNewest appends the newest write of each key. If the table has user keys, it leaves out deletions.
func (l *logRepair) appendNewest(c *copier) error {
	var last, key []byte
	for e, err := range l.Scan(source.ScanOptions{Versions: true, InOrder: true}) {
		if err = errors.Join(err, c.cmd.Context().Err()); err != nil {
			return err
		}
		if l.writes++; l.keys > 0 && l.SameKey(e.Key, last) {
			continue
		}
		l.keys++
		last = append(last[:0], e.Key...)
		if e.Kind == internalkey.Delete {
			l.deleted++
		}
		if key = last; c.internal {
			key = internalkey.Key{UserKey: e.Key, Sequence: e.Sequence, Kind: e.Kind}.Append(nil)
		} else if e.Kind == internalkey.Delete {
			continue
		}
		if err := c.Append(key, e.Value); err != nil {
			return err
		}
	}
	if l.writes == 0 && !dbfile.IsEmpty(l.Path) {
		return errNothingLeft
	}
	return nil
}

// report says what was written.
func (l *logRepair) report(c *copier) []string {
	keys, rest := l.keys, ""
	switch {
	case l.deleted > 0 && c.internal:
		rest = ", including " + text.Count(l.deleted, "deletion")
	case !c.internal:
		keys -= l.deleted
		rest = ", without " + text.Count(l.deleted, "key") + " whose newest write is a deletion"
	}
	report := fileReport{path: l.Path}
	report.add("wrote %s from %s to %s%s", text.Count(keys, "key"), text.Count(l.writes, "write"), c.out, rest)
	return report.lines
}
