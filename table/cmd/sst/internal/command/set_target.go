package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// A setTarget writes a set, or adds a layer to one.
type setTarget struct {
	*set.Builder
	path    string        // of the manifest
	isLayer bool          // a layer is added to the set of old
	old     *set.Manifest // the manifest that is replaced or gets a layer; nil: none
}

// newSetTarget returns a setTarget. If fits is nil, it writes a set. Otherwise it adds a layer, and fits returns an
// error if the layer does not suit the set.
func (c *copier) newSetTarget(fits func(*set.Manifest) error) (t *setTarget, err error) {
	t = &setTarget{path: filepath.Join(c.out, set.ManifestName), isLayer: fits != nil}
	if t.old, err = t.readOld(); err != nil {
		return nil, err
	}
	check := fits
	switch {
	case c.replaced != nil:
		check = c.isUnchanged
	case check == nil && !c.force:
		check = c.isNew
	}
	store := &setStore{set.DirStore{Dir: c.out, LockFile: t.lock}}
	t.Builder, err = set.NewBuilder(c.cmd.Context(), store, &set.BuilderOptions{
		Layer: t.isLayer, EntriesPerTable: c.entriesPerTable, TempDir: c.tempDir, Check: check, Writer: c.options, NewTable: c.newSetTable,
	})
	return t, err
}

// isNew returns an error if the set exists, even if another process has just written it.
func (c *copier) isNew(m *set.Manifest) error {
	if m != nil {
		return cli.UsageErrorf("-o is %s, a set: to replace it, use --force", c.out)
	}
	return nil
}

// isUnchanged returns an error if a set that is changed in place no longer has the tables that were read, for example
// because another process has added a layer.
func (c *copier) isUnchanged(m *set.Manifest) error {
	var listed, read []string
	for t := range m.All() {
		listed = append(listed, t.Name)
	}
	for _, t := range c.replaced.Tables {
		read = append(read, filepath.Base(t.Path))
	}
	slices.Sort(listed)
	slices.Sort(read)
	if !slices.Equal(listed, read) {
		return fmt.Errorf("%s changed after it was read: run the command again", c.out)
	}
	return nil
}

// readOld reads the manifest that is replaced, or that gets a layer.
func (t *setTarget) readOld() (*set.Manifest, error) {
	dir := filepath.Dir(t.path)
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file, but a set needs a directory: name the set's directory", dir)
	}
	m, err := dbdir.ReadSetManifest(t.path, dbdir.ListOptions{})
	switch {
	case errors.Is(err, fs.ErrNotExist) && !t.isLayer:
		return nil, nil
	case errors.Is(err, fs.ErrNotExist):
		return nil, t.missingSet(dir)
	case errors.Is(err, table.ErrCorrupt) && !t.isLayer:
		return nil, fmt.Errorf("%w. To replace the set, remove this file, or use another directory", err)
	}
	return m, err
}

// missingSet returns the error for adding a layer to a set that does not exist.
func (t *setTarget) missingSet(dir string) error {
	if name, _ := versions.FindCurrentOrManifest(dir); name != "" {
		return fmt.Errorf("%s is a database directory, with %s: only sets have layers", dir, name)
	}
	return fmt.Errorf("%s does not exist, so no layer can be added: build the set first, with sst build -o %s",
		t.path, format.ShellPath(dir+string(os.PathSeparator)))
}

// lock locks the set. Where files cannot be locked, a set is written anyway, since it does not depend on the manifest
// that it replaces. A layer does, so adding one fails.
func (t *setTarget) lock(ctx context.Context, path string) (unlock func(), err error) {
	unlock, err = filelock.Wait(ctx, path)
	if t.isLayer && errors.Is(err, errors.ErrUnsupported) {
		err = errors.New(err.Error())
	}
	return unlock, err
}

// commit completes a set. It returns the number of files that the old manifest lists and the new one does not.
func (t *setTarget) commit() (obsolete uint64, err error) {
	now, err := t.Commit()
	if errors.Is(err, set.ErrEmpty) {
		n := uint64(len(slices.Collect(t.old.All())))
		err = fmt.Errorf("the input has no pairs, and %s lists %s: nothing was replaced. For an empty set, remove %s first",
			t.path, text.Count(n, "table"), t.path)
	}
	if err != nil {
		return 0, err
	}
	used := map[string]bool{}
	for _, table := range now.Tables {
		used[table.Name] = true
	}
	for table := range t.old.All() {
		if !used[table.Name] && files.Exists(filepath.Join(filepath.Dir(t.path), table.Name)) {
			obsolete++
		}
	}
	return obsolete, nil
}

// A setStore is the directory of a set. If a signal ends the process, its temporary files are removed.
type setStore struct{ set.DirStore }

func (s *setStore) Begin(ctx context.Context) (set.Pending, error) {
	p, err := output.Begin(func() (set.Pending, error) { return s.DirStore.Begin(ctx) })
	return pendingTables{p}, err
}

func (s *setStore) Put(ctx context.Context, name string, content []byte) error {
	return output.WriteFile(ctx, s.Path(name), nil, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

type pendingTables struct{ set.Pending }

func (p pendingTables) Abort() error {
	defer output.Forget(p.Pending)
	return p.Pending.Abort()
}
