package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/internal/filelock"
	"github.com/sievetable/sievetable/table/cmd/internal/output"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// Commit completes the last table, gives all tables their names, and writes the manifest. It
// returns how many files of the manifest that was replaced are not tables of the set any more. A
// set without tables replaces none with tables, and no layer is without tables: the input is more
// often that of a program that failed.
//
// Commits of several Writers come one after the other, so that a layer that one of them adds is
// not lost.
func (w *Writer) Commit() (obsolete int, err error) {
	if err := w.cutter.finish(); err != nil {
		return 0, err
	}
	unlock, err := w.lock()
	if err != nil {
		return 0, err
	}
	defer unlock()
	m, err := w.manifest()
	if err != nil {
		return 0, err
	}
	if err := w.publish(m); err != nil {
		return 0, err
	}
	w.made = false
	return w.obsolete(), nil
}

// lockName is the name of the file that is locked while a manifest is read and written. The manifest
// cannot be locked, because it is replaced.
const lockName = set.ManifestName + ".lock"

// lockPause is the time between two attempts to lock.
const lockPause = 10 * time.Millisecond

// lock waits until no other Writer changes the manifest of the directory. Where files cannot be locked, a
// set is written all the same: it needs nothing of the manifest that it replaces.
func (w *Writer) lock() (unlock func(), err error) {
	for {
		l, err := filelock.Open(w.path(lockName))
		switch {
		case err == nil:
			return func() {
				os.Remove(l.Path()) // as long as nobody else can lock it. Windows removes no open file: it stays
				l.Close()
			}, nil
		case errors.Is(err, errors.ErrUnsupported) && w.fits == nil:
			return func() {}, nil
		case !errors.Is(err, filelock.ErrLocked):
			return nil, err
		}
		select {
		case <-w.ctx.Done():
			return nil, context.Cause(w.ctx)
		case <-time.After(lockPause):
		}
	}
}

// manifest returns the new manifest: that of the set, or the one that is there with the layer.
func (w *Writer) manifest() (*set.Manifest, error) {
	path := w.path(set.ManifestName)
	switch {
	case len(w.tables) > 0:
	case w.fits != nil:
		return nil, fmt.Errorf("there are neither pairs to add nor keys to remove: no layer was added to %s", path)
	case len(w.old) > 0:
		return nil, fmt.Errorf("the input has no pairs, and %s lists %s: nothing was replaced; if you want an empty set, remove %s first", path, text.Count(uint64(len(w.old)), "table"), path)
	}
	if w.fits == nil {
		return &set.Manifest{Tables: w.tables}, w.nameTables(1)
	}
	m, err := w.readBase()
	if err != nil {
		return nil, err
	}
	added := min(w.added, len(w.tables))
	m.Layers = append(m.Layers, set.Layer{Tables: w.tables[:added], Removals: w.tables[added:]})
	return m, w.nameTables(nextNumber(m))
}

// readBase reads the manifest that a layer is added to.
func (w *Writer) readBase() (*set.Manifest, error) {
	m, err := w.readManifest("")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s does not exist, so there is no set to add a layer to: build one by sst build -o %s%c",
			w.path(set.ManifestName), filepath.Clean(w.o.Dir), os.PathSeparator)
	}
	if err != nil {
		return nil, err
	}
	return m, w.fits(m)
}

// readManifest reads the manifest that is there. wrong is the error for a file that is none.
func (w *Writer) readManifest(wrong string) (*set.Manifest, error) {
	path := w.path(set.ManifestName)
	f, _, err := regular.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // it was only read
	m, err := set.ReadManifest(f)
	if err != nil {
		return nil, fmt.Errorf("%s%s: %w", path, wrong, err)
	}
	return m, nil
}

// maxNumber is above all numbers of names that count as such, and not as dates or hashes.
const maxNumber = 1e9

// nextNumber returns a number that begins the name of no table.
func nextNumber(m *set.Manifest) int {
	most := uint64(0)
	for t := range m.All() {
		digits := len(t.Name) - len(strings.TrimLeft(t.Name, "0123456789"))
		if n, err := strconv.ParseUint(t.Name[:digits], 10, 64); err == nil && n < maxNumber {
			most = max(most, n)
		}
	}
	return int(most) + 1
}

// nameTables gives the tables their names, in the temporary directory. first is the number of the first one. Who may
// read the manifest that is there may read the tables.
func (w *Writer) nameTables(first int) error {
	manifest, noManifest := os.Stat(w.path(set.ManifestName))
	for i := range w.tables {
		if noManifest == nil {
			os.Chmod(w.pendingPath(i), manifest.Mode().Perm()) // where files have no permissions, it fails
		}
		t := &w.tables[i]
		t.Name = fmt.Sprintf("%06d-%s%s", first+i, t.SHA256[:16], w.o.Extension)
		if err := os.Rename(w.pendingPath(i), w.pending.Path(t.Name)); err != nil {
			return err
		}
	}
	return nil
}

// publish moves the tables to the directory, and writes the manifest.
func (w *Writer) publish(m *set.Manifest) error {
	to, err := output.Create(w.ctx, w.path(set.ManifestName), nil)
	if err != nil {
		return err
	}
	defer to.Abort() // does nothing after Commit
	if err := set.WriteManifest(to, m); err != nil {
		return err
	}
	names := make([]string, len(w.tables))
	for i, t := range w.tables {
		names[i] = t.Name
	}
	if err := w.pending.Publish(names); err != nil {
		return err
	}
	return output.Commit(to)
}

// obsolete returns how many files of the old manifest are not tables of the set any more.
func (w *Writer) obsolete() int {
	used := map[string]bool{}
	for _, t := range w.tables {
		used[t.Name] = true
	}
	n := 0
	for _, name := range w.old {
		if _, err := os.Lstat(w.path(name)); err == nil && !used[name] {
			n++
		}
	}
	return n
}
