package partition

import (
	"fmt"
	"os"

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

// manifest returns the new manifest.
func (w *Writer) manifest() (*set.Manifest, error) {
	if w.layer != nil {
		return w.withLayer()
	}
	if path := w.path(set.ManifestName); len(w.tables) == 0 && len(w.old) > 0 {
		return nil, fmt.Errorf("the input has no pairs, and %s lists %s: nothing was replaced; if you want an empty set, remove %s first", path, text.Count(uint64(len(w.old)), "table"), path)
	}
	return &set.Manifest{Tables: w.tables}, nil
}

// publish gives the tables their names, and writes the manifest.
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
	for _, t := range w.old {
		if _, err := os.Lstat(w.path(t.Name)); err == nil && !used[t.Name] {
			n++
		}
	}
	return n
}
