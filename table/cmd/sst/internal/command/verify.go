package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

const verifyLong = `Check tables. For a directory, check each table that sst get would search. These checks
are made:

  - the checksum and the form of every block
  - the order of all keys: within blocks, across blocks, and against the index
  - that no filter excludes a key that the table has, or the prefix of one, if it holds prefixes
  - that the exceptions of build --never are in the filter, and are no keys of the table
  - for tables of a database, that size, first and last key and sequence numbers are as
    the MANIFEST says
  - for tables of a set, that SHA-256, size, number of entries, first and last key are as
    its manifest set.jsonl says, and that lookups notice when another table replaces one
  - for logs of a database, every record

Each table is read once, and a filter or an index of more than 16 MiB twice. If its keys turn
out to be in an unknown order, it is read twice.
Each table has one line: ok, or one line per damaged part. A table that does not exist has a
line too. A log is ok if only its end was never completely written, or a batch after which the
database went on with the same sequence number: the line says how many bytes that are. Of a file in
LevelDB's log format whose records are not write batches, such as a Firestore export, the checksums
are checked. If the manifest of a set is damaged, such as one that was cut short, no table is
checked: --all-tables checks those of the directory without it. After damage in one part, the other
parts are still checked. Only if the footer or the index cannot be read, no other part can be
checked: use sst salvage, which can find more. Keys that are not in bytewise order are no damage if
the checksums are right and neither a MANIFEST nor --comparator says what their order is.`

func verifyCommand() *cobra.Command {
	var flags sourceFlags
	var quiet bool
	cmd := &cobra.Command{
		Use:   "verify [flags] FILE|DIR...",
		Short: "Check all blocks, the order of keys, and the filters of tables, databases and sets",
		Long:  verifyLong,
		Example: `  sst verify users.ldb
  sst verify --quiet /var/lib/app/db && echo sound`,
		Annotations: exitStatus{
			exitOK:      "all was checked and is sound",
			exitDamaged: "a table, a log or a manifest is damaged or missing",
		}.annotation(),
		Args:              cli.Arguments("FILE or DIR", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing for tables that are ok")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.scanOnly = true // Verify reads the filters itself
		o, err := flags.options()
		if err != nil {
			return err
		}
		tables, failed := targetsOf(args, o, cmd.ErrOrStderr())
		if err := o.Outputs.CheckAll(pathsOf(tables)); err != nil {
			return err
		}
		bar := progress.Bytes(cmd.ErrOrStderr(), sizeOfTargets(tables...), "verifying")
		defer bar.Done()
		return errors.Join(append(failed, verify(cmd.OutOrStdout(), tables, o, quiet, failed, bar.Add))...)
	}
	return cmd
}

// verify checks one target after the other. A file that cannot be read is an error, and not
// damage. before is what is wrong with other files of databases. verify calls add with how many bytes were
// checked: together as many as the files have.
func verify(out io.Writer, tables []target, o source.Options, quiet bool, before []error, add func(n int64)) error {
	var failed []error
	var found damageReported
	for _, err := range before {
		found.countOthers(err)
	}
	for i, t := range tables {
		part := progress.NewPart(add, sizeOfTargets(t))
		o.ReadOnce = part.Add
		remark, err := t.verify(o)
		part.Done()
		if t.wasRemoved(err, o) {
			text.Line(out, "%s: removed before it was checked, because its database is in use", t.Path)
			continue
		}
		found.of++
		switch {
		case err == nil && !quiet:
			text.Line(out, "%s: ok%s", t.Path, remark)
		case errors.Is(err, table.ErrCorrupt):
			found.add(t.Path, err)
		case exitStatusOf(err) == exitMemory:
			failed = append(failed, &source.FileError{Path: t.Path, Err: err})
		case err != nil:
			failed = append(failed, fmt.Errorf("%s could not be checked completely", t.Path))
			if errors.Is(err, fs.ErrNotExist) {
				found.damaged, found.absent = found.damaged+1, found.absent+1
			}
		}
		lines := text.Lines(err)
		if i == len(tables)-1 || tables[i+1].highest != t.highest {
			lines = append(lines, found.checkSequence(t)...)
		}
		for _, line := range lines {
			text.Line(out, "%s", line)
		}
	}
	if found.damaged > found.other+found.absent {
		failed = append(failed, found)
	}
	return errors.Join(failed...)
}

// countOthers counts damage of files that are not checked one by one: of CURRENT, a MANIFEST or a log that is
// missing. It is printed with the other errors.
func (d *damageReported) countOthers(err error) {
	if errors.Is(err, table.ErrCorrupt) {
		d.damaged, d.of, d.other = d.damaged+1, d.of+1, d.other+1
	}
}

// add adds a damaged file.
func (d *damageReported) add(path string, err error) {
	d.damaged++
	switch {
	case errors.As(err, new(*source.MissingTable)):
		d.missing = append(d.missing, path)
	case errors.As(err, new(*table.CorruptionError)): // sst salvage repairs no other damage
		d.files = append(d.files, path)
	}
}

// checkSequence returns what is wrong with the MANIFEST, after the last table of a database was checked.
func (d *damageReported) checkSequence(t target) []string {
	if t.highest == nil || t.highest.number == 0 {
		return nil
	}
	d.damaged, d.of = d.damaged+1, d.of+1
	return []string{fmt.Sprintf("%s: last sequence number is %d, but %s has %d, so engines do not show what is newer: restore it, or run: %s",
		filepath.Join(t.dir, t.version.Manifest), t.version.LastSequence, filepath.Base(t.highest.path), t.highest.number, source.RepairCommand(t.dir))}
}

// verify returns the damage of a table or a log, or why it could not be checked. remark is
// about a sound one.
func (t target) verify(o source.Options) (remark string, err error) {
	switch {
	case t.log:
		return t.nextLog().Verify()
	case t.records:
		return verifyRecords(t.Path, o)
	}
	o.Order = t.order
	f, err := t.Open(o)
	if err != nil {
		return "", err
	}
	if filters := f.Filters(); filters.UnknownPolicy {
		remark = ", but of its filter only the checksum was checked: " + filters.Reason()
	}
	if errors.Is(f.HiddenKeys(), table.ErrFilterOnly) {
		remark += ", but there is a filter only: without its keys it cannot be checked that it has them all"
	}
	if f.Rewritten {
		remark += ", but goleveldb's recovery wrote its internal keys in bytewise order: goleveldb's Get does not find some of them"
	}
	keys, note, err := f.Verify(t.Line)
	if f.OrderNote != "" {
		remark += ", but " + f.OrderNote
	}
	if f.FilterHasUserKeys && err != nil && !errors.Is(err, table.ErrCorrupt) {
		err = errors.New("its filter was not checked, because it has keys without sequence number and kind: want --internal-keys auto or yes")
	}
	if note != "" {
		remark += ", but " + note
	}
	if t.Meta != nil {
		tooHigh, differs := f.CheckManifest(t.version, t.TableFile, keys)
		t.highest.raise(tooHigh, t.Path)
		err = errors.Join(err, differs)
	}
	return remark, f.Wrap(errors.Join(err, f.Close()))
}

// sizeOfTargets returns the size of the files. Those that do not exist count as empty.
func sizeOfTargets(tables ...target) (size int64) {
	for _, t := range tables {
		if info, err := os.Stat(t.Path); err == nil {
			size += info.Size()
		}
	}
	return size
}
