package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

const verifyLong = `Check tables, logs, databases and sets, and print a line for each file: ok, or what is wrong.
Missing files are listed as well. sst checks

  - checksums, the form of all blocks, and the order of all keys, also against the index
  - that filters contain all keys and prefixes, and that exceptions (--never) are no keys
  - in a database, tables against the MANIFEST, the kinds of keys, that logs are complete and newer
    than the tables, and that engines can open CURRENT and the MANIFEST and overwrite no file
  - in a set, SHA-256, size, entries and ranges against the manifest

An unfinished record at the end of a log is normal after a crash, and ok. If a footer or an index
is corrupt, nothing else in that table can be checked. Keys in an unknown order are no damage.
See sst help sources and damage.`

func verifyCommand() *cobra.Command {
	var flags sourceFlags
	var quiet, asJSON bool
	cmd := &cobra.Command{
		SuggestFor: []string{"check", "validate", "fsck"},
		Use:        "verify [flags] FILE|DIR...",
		Short:      "Check tables, logs, databases and sets",
		Long:       verifyLong,
		Example: `  sst verify users.ldb
  sst verify --quiet /var/lib/app/db && echo sound
  sst verify --json /var/lib/app/db | jq 'select(.verdict != "ok")'`,
		Annotations: cli.ExitStatus{
			cli.ExitOK:      "all was checked and is sound",
			cli.ExitDamaged: "a table, a log or a manifest is damaged or missing",
		}.Annotation(),
		Args:              cli.Arguments("FILE or DIR", 1, cli.Unlimited, cli.Unlimited),
		ValidArgsFunction: cli.Files(0, sourceNames...),
	}
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print nothing for files that are ok")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON objects: file, kind, verdict, errors and remark")
	flags.addDir(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		flags.scanOnly = true // Verify reads the filters itself
		p, err := flags.newPass(cmd, asJSON)
		if err != nil {
			return err
		}
		targets := p.targets(args, true)
		if err := p.options.Outputs.CheckAll(pathsOf(targets)); err != nil {
			return err
		}
		bar := progress.Bytes(p.stderr, sizeOf(targets...), "verifying")
		defer bar.Done()
		v := verifier{pass: p, quiet: quiet, add: bar.Add}
		return v.verify(targets)
	}
	return cmd
}

// A verifier checks targets, and prints a verdict for each.
type verifier struct {
	*pass
	quiet bool
	add   func(n int64) // called with how many bytes were checked: together as many as the files have
	found damageReported
}

// A verdict is what verify prints of a file.
type verdict struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind"`
	Verdict string   `json:"verdict"`
	Errors  []string `json:"errors,omitempty"`
	Remark  string   `json:"remark,omitempty"`
}

// verify checks one target after the other. A file that cannot be read is an error, and not damage.
func (v *verifier) verify(targets []target) error {
	for _, err := range v.failed {
		if errors.Is(err, table.ErrCorrupt) { // of the manifest of a set
			v.found.count(true)
		}
	}
	err := each(v.pass, targets, func(t target) error {
		o, part := v.options, progress.NewPart(v.add, sizeOf(t))
		o.ReadOnce = part.Add
		remark, err := t.verify(o)
		part.Done()
		is := t.judge(err, o)
		return errors.Join(v.print(verdict{t.Path, t.kind, is, text.Lines(err), strings.TrimPrefix(remark, ", but ")}), v.count(t, is, err))
	})
	if v.found.damaged > v.found.told {
		err = errors.Join(err, v.found)
	}
	return err
}

// The verdicts.
const (
	isOK        = "ok"
	isDamaged   = "damaged"
	isMissing   = "missing"
	isUnchecked = "unchecked"
	wasRemoved  = "removed"
)

// judge returns the verdict for an error of verify.
func (t target) judge(err error, o source.Options) string {
	switch {
	case err == nil:
		return isOK
	case t.wasRemoved(err, o):
		return wasRemoved
	case !errors.Is(err, table.ErrCorrupt):
		return isUnchecked
	}
	if _, err := os.Stat(t.Path); errors.Is(err, fs.ErrNotExist) {
		return isMissing
	}
	return isDamaged
}

// print prints a verdict: as JSON, or as a line for each error.
func (v *verifier) print(d verdict) error {
	lines := d.Errors
	switch {
	case d.Verdict == isOK && v.quiet:
		return nil
	case v.asJSON:
		for i := range lines {
			lines[i] = strings.TrimPrefix(lines[i], d.File+": ")
		}
		return text.JSONLine(v.out, d)
	case d.Verdict == wasRemoved:
		lines = []string{d.File + ": removed before it was checked, because its database is in use"}
	case d.Verdict == isOK && d.Remark != "":
		lines = []string{d.File + ": ok, but " + d.Remark}
	case d.Verdict == isOK:
		lines = []string{d.File + ": ok"}
	}
	for _, line := range lines {
		text.Line(v.out, "%s", line)
	}
	return nil
}

// count counts a verdict. It returns the error that the verdict does not tell.
func (v *verifier) count(t target, is string, err error) error {
	switch is {
	case isOK:
		v.found.of++
	case isDamaged, isMissing:
		v.found.count(false)
		v.found.addFile(t, err)
	case isUnchecked:
		if errors.Is(err, fs.ErrNotExist) {
			v.found.count(true)
		} else {
			v.found.of++
		}
		if cli.StatusOf(err) == cli.ExitMemory {
			return &dbfile.FileError{Path: t.Path, Err: err}
		}
		return fmt.Errorf("%s could not be checked completely", t.Path)
	}
	return nil
}

// addFile adds a damaged file, or its database.
func (d *damageReported) addFile(t target, err error) {
	switch {
	case t.in.database:
		if !slices.Contains(d.databases, t.in.path) {
			d.databases = append(d.databases, t.in.path)
		}
	case t.kind == isLog || errors.As(err, new(*table.CorruptionError)): // sst repair repairs no other damage
		d.files = append(d.files, t.Path)
	}
}

// verify returns the damage of a file, or why it could not be checked. remark is about a sound one.
func (t target) verify(o source.Options) (remark string, err error) {
	switch {
	case t.state != nil:
		return t.state.Remark, errors.Join(t.state.Err, t.checkSequence())
	case t.kind == isLog && t.in.version != nil && !o.AllTables:
		return t.nextLog().Verify(t.in.highest)
	case t.kind == isLog:
		return t.nextLog().Verify(0)
	case t.kind == isRecords:
		return verifyRecords(t.Path, o)
	}
	o.Order = t.in.order
	f, err := t.Open(o.ListOptions)
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
		differs := f.CheckManifest(t.in.version, t.Meta, keys)
		if err = errors.Join(err, differs); err == nil && keys.Highest() > t.in.highest {
			t.in.highest, t.in.newest = keys.Highest(), t.Path
		}
	}
	return remark, f.Wrap(errors.Join(err, f.Close()))
}

// checkSequence compares the last sequence number of a MANIFEST with those of the tables, which were checked.
func (t target) checkSequence() error {
	v := t.in.version
	if v == nil || filepath.Base(t.Path) != v.Manifest || t.in.highest <= v.LastSequence {
		return nil
	}
	return &dbfile.FileError{Path: t.Path, Err: wal.Corruptionf("the last sequence number is %d, but %s has %d, so engines do not show what is newer",
		v.LastSequence, filepath.Base(t.in.newest), t.in.highest)}
}
