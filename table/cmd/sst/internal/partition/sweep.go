package partition

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
)

// Sweep yields the files of a set's directory that nothing needs: tables that no manifest of the directory lists, and
// temporary files of builds that were killed. Files that were changed after the time stay, since a build may be at work
// on them. If remove is true, each is removed first. While Sweep runs, no build changes the manifest.
func Sweep(ctx context.Context, dir string, before time.Time, remove bool, yield func(fs.FileInfo) error) error {
	if _, err := os.Stat(dir); err != nil {
		return err
	}
	if !dbdir.IsSet(dir) {
		return fmt.Errorf("%s: not the directory of a set", dir)
	}
	unlock, err := (&Writer{ctx: ctx, o: Options{Dir: dir}}).lock()
	if err != nil {
		return err
	}
	defer unlock()
	listed, err := dbdir.ListedBySets(dir)
	if err != nil {
		return fmt.Errorf("%w: no file is removed, as it may list any of them", err)
	}
	names, err := regular.DirOf(dir).Names()
	if err != nil {
		return err
	}
	slices.Sort(names)
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) || err == nil && (listed[name] || !isOurs(info) || info.ModTime().After(before)) {
			continue
		}
		if err == nil && remove {
			err = os.RemoveAll(filepath.Join(dir, name))
		}
		if err == nil {
			err = yield(info)
		}
		if err := errors.Join(err, ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// isOurs reports whether a file has a name that builds give to tables or temporary files.
func isOurs(info fs.FileInfo) bool {
	name, ext := info.Name(), filepath.Ext(info.Name())
	if strings.HasPrefix(name, "sievetable-") && ext == ".tmp" {
		return true
	}
	return info.Mode().IsRegular() && (ext == ".ldb" || ext == ".sst" || ext == ".filter")
}
