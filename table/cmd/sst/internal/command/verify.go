package command

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/progress"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

const verifyLong = `Check tables, logs, databases and sets, and print a line for each file, also missing ones: ok, or
what is wrong. sst checks

  - checksums, block formats, and key order, also against the index
  - that filters contain all keys and prefixes, and no key of build --never is in the table
  - a database's tables against its MANIFEST, and the kinds of its keys
  - that its logs are undamaged, and newer than its tables
  - that CURRENT and the MANIFEST are sound
  - a set's SHA-256, sizes, entries and ranges against its manifest

An unfinished record at the end of a log is normal after a crash. sst may not notice that the newest
log is lost, cut or zeroed. If a footer or an index is corrupt, nothing else in that table can be
checked.
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
		flags.ScanOnly = true // Verify reads the filters itself
		p := flags.newPass(cmd, asJSON)
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
	add   func(n int64) // called with the number of bytes checked; the sum is the size of the files
	found damageReported
	shown bool // a verdict is damage, so the final error sums it up
}

// A verdict is the output of verify for a file.
type verdict struct {
	File    string   `json:"file"`
	Kind    string   `json:"kind"`
	Verdict string   `json:"verdict"`
	Errors  []string `json:"errors,omitempty"`
	Remark  string   `json:"remark,omitempty"`
}

// verify checks one target after the other. A file that cannot be read is an error, not damage.
func (v *verifier) verify(targets []target) error {
	err := each(v.pass, targets, v.check)
	if v.shown {
		err = errors.Join(err, v.found)
	}
	return err
}

// check prints the verdict on a file. It returns errors that the verdict does not include.
func (v *verifier) check(t target) (unreported error) {
	o, left := v.options, sizeOf(t)
	o.ReadOnce = func(n int64) { // at most the size, however much is read
		n = min(n, left)
		left -= n
		v.add(n)
	}
	remark, err := t.verify(o)
	v.add(left)
	err = t.unlessReplaced(err)
	d := verdict{t.Path, t.kind, "ok", text.Lines(err), remark}
	lines := d.Errors
	v.found.of++
	switch {
	case err == nil && v.quiet:
		return nil
	case err == nil:
		lines = []string{t.Path + ": " + dbdir.JoinRemarks("ok", remark)}
	case t.wasRemoved(err, o):
		d.Verdict, lines = "removed", []string{t.Path + ": removed before it was checked: its database is in use"}
		v.found.of--
	case errors.Is(err, table.ErrCorrupt):
		d.Verdict, v.shown = "damaged", true
		if _, err := files.Stat(t.Path); errors.Is(err, fs.ErrNotExist) {
			d.Verdict = "missing"
		}
		v.found.add(t, err)
	default:
		if failed := (*fs.PathError)(nil); errors.As(err, &failed) && failed.Path == t.Path {
			d.Errors = []string{t.Path + ": " + failed.Err.Error()}
			lines = d.Errors
		}
		d.Verdict, unreported = "unchecked", fmt.Errorf("%s could not be checked completely", t.Path)
		if cli.StatusOf(err) == cli.ExitMemory {
			unreported = &dbfile.FileError{Path: t.Path, Err: err}
		}
		if errors.Is(err, fs.ErrNotExist) {
			v.found.damaged++
		}
	}
	if v.asJSON {
		for i := range d.Errors {
			d.Errors[i] = strings.TrimPrefix(d.Errors[i], d.File+": ")
		}
		return errors.Join(text.JSONLine(v.out, d), unreported)
	}
	for _, line := range lines {
		text.Line(v.out, "%s", line)
	}
	return unreported
}

// verify returns the damage of a file, or why it could not be checked. The remark is for a sound file.
func (t target) verify(o source.Options) (remark string, err error) {
	switch {
	case t.state != nil:
		return t.state.Remark, errors.Join(t.state.Err, t.checkSequence())
	case t.kind == isLog:
		if t.in.logs == nil {
			t.in.logs = t.verifyLogs(o)
		}
		state := t.in.logs[t.Path]
		return state.Remark, state.Err
	case t.kind == isRecords:
		s, note, err := countRecords(t.Path, o)
		if err != nil {
			return "", err
		}
		remark = fmt.Sprintf("it is %s: only the checksums of %s were checked", dbfile.RecordFile, text.Count(s.Records, "record"))
		if note != "" {
			remark += ", and " + note
		}
		return remark, nil
	}
	return t.verifyTable(o)
}

// verifyLogs verifies all logs in the folder of t, since only the next log shows whether the end of a log is lost.
func (t target) verifyLogs(o source.Options) map[string]*dbdir.StateFile {
	inTables := uint64(0)
	if t.in.Version != nil && !o.AllTables {
		inTables = t.in.highest
	}
	paths := dbdir.PathsOf(t.in.Logs)
	if len(paths) == 0 { // a lone log
		paths = []string{t.Path}
	}
	all, last := map[string]*dbdir.StateFile{}, new(dbdir.StateFile)
	for _, path := range paths {
		t.Path = path
		remark, before, err := t.nextLog(o).Verify(inTables)
		last.Err = errors.Join(last.Err, before)
		last = &dbdir.StateFile{Path: path, Err: err, Remark: remark}
		all[path] = last
	}
	return all
}

func (t target) verifyTable(o source.Options) (remark string, err error) {
	f, err := t.open(o)
	if err != nil {
		return "", err
	}
	var remarks []string
	addIf := func(cond bool, remark string) {
		if cond {
			remarks = append(remarks, remark)
		}
	}
	filters := f.Filters()
	unknownPolicy := filters.Err != nil && !errors.Is(filters.Err, table.ErrCorrupt)
	addIf(unknownPolicy, "only its filter's checksum was checked: "+filters.Reason())
	addIf(errors.Is(f.HiddenKeys(), table.ErrFilterOnly), "it is only a filter, and cannot be checked against its keys")
	addIf(versions.IsCurrentOrManifest(filepath.Base(t.Path)), "it is a table, though a database's state file has such a name")
	addIf(f.Rewritten, "goleveldb's recovery wrote its internal keys in bytewise order: goleveldb's Get does not find some of them")
	keys, remark, err := f.Verify(t.Line)
	remarks = append(remarks, f.OrderNote, remark)
	if f.FilterHasUserKeys && err != nil && !errors.Is(err, table.ErrCorrupt) {
		err = errors.New("its filter was not checked, as it contains keys without sequence number and kind: use --internal-keys auto or yes")
	}
	if t.Meta != nil {
		err = errors.Join(err, f.CheckManifest(t.in.Version, t.Meta, keys))
		if err == nil && keys.Highest() > t.in.highest {
			t.in.highest, t.in.newest = keys.Highest(), t.Path
		}
	}
	return dbdir.JoinRemarks(remarks...), f.Wrap(errors.Join(err, f.Close()))
}

// checkSequence compares the last sequence number of a MANIFEST, or of its logs if that is higher, with those of the
// tables. Tables and logs were checked before.
func (t target) checkSequence() error {
	v := t.in.Version
	if v == nil || filepath.Base(t.Path) != v.Manifest || t.in.highest <= max(v.Named, t.in.lastLog.Last()) {
		return nil
	}
	return &dbfile.FileError{Path: t.Path, Err: wal.Corruptionf("the last sequence number is %d, but %s has %d: engines hide newer entries",
		v.Named, filepath.Base(t.in.newest), t.in.highest)}
}
