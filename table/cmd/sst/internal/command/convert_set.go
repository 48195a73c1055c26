package command

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/tempfile"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/set"
)

// addExcept adds the flags for exceptions. They exclude all flags added before, except --output.
func addExcept(cmd *cobra.Command, f *filterfile.ExceptFlags) {
	var others []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Name != "output" {
			others = append(others, f.Name)
		}
	})
	f.Add(cmd)
	cli.Exclude(cmd, "never", others...)
	cli.Needs(cmd, "known-absent", "never")
}

// exceptSet adds exceptions to the tables of a set. It rewrites the tables that need some, and writes the manifest
// when all are complete.
func (f *sourceFlags) exceptSet(cmd *cobra.Command, path, out string, flags *filterfile.ExceptFlags) error {
	switch {
	case out != "" && !isManifestIn(path, out):
		return cli.UsageErrorf("a set is converted in place: leave out -o %s", format.ShellPath(out))
	case files.IsRemote(path):
		return cli.UsageErrorf("%s is not a local set: convert a local copy, and upload it with sstcloud put", path)
	}
	limit, err := memory.Usual()
	if err != nil {
		return err
	}
	in, err := flags.Input(cmd, output.FilesOf(cmd.OutOrStdout()))
	if err != nil {
		return err
	}
	c := &copier{targetFlags: &targetFlags{out: directoryOf(path)}, cmd: cmd, options: new(table.WriterOptions), limit: limit}
	c.never, flags.AddFilter = &keyList{path: flags.Never}, files.MergeLine("--set --table-filter fuse ", path, "NEW")
	defer c.never.file.Close() // which removes it
	if err := c.never.read(c, *in); err != nil {
		return err
	}
	return f.with(path, cmd.ErrOrStderr(), func(s *source.Source) error {
		c.replaced = s
		e := &setExceptions{copier: c, ExceptFlags: flags, store: &setStore{set.DirStore{Dir: c.out, LockFile: filelock.Wait}}}
		if c.out == path {
			return e.publish(set.ManifestName)
		}
		return e.publish(filepath.Base(path))
	})
}

// setExceptions adds exceptions for the copier's never keys to the tables of a set.
type setExceptions struct {
	*copier
	*filterfile.ExceptFlags
	store   *setStore
	pending set.Pending
	added   []set.Table // pending tables
	changed bool        // the manifest has changed lines
}

// publish writes the tables that need exceptions, and the manifest.
func (e *setExceptions) publish(manifest string) error {
	ctx := e.cmd.Context()
	m, err := set.LoadManifest(ctx, e.store, manifest)
	if err != nil {
		return err
	}
	if e.pending, err = e.store.Begin(ctx); err != nil {
		return err
	}
	defer e.pending.Abort() // does nothing after Publish
	i := 0
	for t := range m.All() {
		i++
		if err := e.write(t, i); err != nil {
			return err
		}
	}
	if !e.changed {
		return nil
	}
	if err := e.pending.Publish(ctx, e.added); err != nil {
		return err
	}
	if err := set.PublishManifest(ctx, e.store, manifest, m, e.isUnchanged); err != nil {
		return err
	}
	if n := uint64(len(e.added)); n > 0 {
		e.note("%s of %s got exceptions. Once no program reads the old tables, and no build runs, run: sst sweep --age 0s --delete %s", text.Count(n, "table"), e.out, format.ShellPath(e.out))
	}
	return nil
}

// write rewrites table i of the set with exceptions, if it needs some, and updates its line.
func (e *setExceptions) write(t *set.Table, i int) error {
	f, reported, err := e.reported(t)
	if f != nil {
		defer f.Close() // it was only read
	}
	if err != nil || len(reported) == 0 {
		return err
	}
	var temporary tempfile.File // read again for the line's TailSum
	if err := temporary.Create(""); err != nil {
		return err
	}
	defer temporary.Close() // which removes it
	sum := sha256.New()
	if err := e.Write(io.MultiWriter(temporary, sum), f, filterfile.Never(reported)); err != nil {
		return err
	}
	t.SHA256 = hex.EncodeToString(sum.Sum(nil))
	t.Name = fmt.Sprintf("%06d-%s%s", i, t.SHA256[:16], map[bool]string{false: ".ldb", true: ".filter"}[f.Reader.FilterOnly()])
	return e.add(t, temporary, f.Options)
}

// reported returns the listed keys that the table's filter reports, except for keys that a newer layer has removed
// from the set. It opens the table only if a listed key is in its range.
func (e *setExceptions) reported(t *set.Table) (f *dbfile.File, reported [][]byte, err error) {
	for key, err := range e.never.within(&keyRange{t.Smallest, t.Largest, true}) {
		if err == nil && f == nil {
			file := dbdir.File{Path: e.store.Path(t.Name), Line: t, Missing: !files.Exists(e.store.Path(t.Name))}
			f, err = file.Open(dbdir.ListOptions{Options: dbfile.Options{Order: dbfile.ExplicitOrder(table.BytewiseComparer)}})
		}
		var may, removed bool
		if err == nil {
			may, err = f.Reader.MayContain(key)
		}
		if may {
			removed, err = e.isRemoved(f, key)
		}
		if may && !removed {
			reported = append(reported, bytes.Clone(key))
		}
		if err != nil {
			return f, nil, err
		}
	}
	if f != nil { // with fewer bits, the filter would report more keys of the list
		e.changed = e.changed || t.FilterBits > 0 || len(reported) > 0
		t.FilterBits = 0
	}
	return f, reported, nil
}

// isRemoved reports whether a table contains a key, but the set does not.
func (e *setExceptions) isRemoved(f *dbfile.File, key []byte) (bool, error) {
	if !e.replaced.HasLayers() || f.Reader.FilterOnly() {
		return false, nil
	}
	_, err := f.Reader.Get(key)
	if errors.Is(err, table.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, f.Wrap(err)
	}
	_, found, err := e.replaced.Get(key)
	return !found, err
}

// add completes the line of a table in a temporary file, and adds it to the pending tables.
func (e *setExceptions) add(t *set.Table, file tempfile.File, o *table.ReaderOptions) error {
	info, err := file.Stat()
	if err != nil {
		return err
	}
	l, err := table.ReadLayout(file, info.Size(), o)
	if err != nil {
		return err
	}
	sum, _, err := l.TailSum()
	if err != nil {
		return err
	}
	t.TailSum, t.TailSize, t.Size = hex.EncodeToString(sum[:]), t.TailSize+info.Size()-t.Size, info.Size()
	e.added = append(e.added, *t)
	w, err := e.pending.Create(e.cmd.Context())
	if err != nil {
		return err
	}
	_, err = io.Copy(w, io.NewSectionReader(file, 0, t.Size))
	return errors.Join(err, w.Close())
}
