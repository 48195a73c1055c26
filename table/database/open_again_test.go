package database_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// OnLoss is called only for corrupt and missing files. If Open fails for another reason, it returns that error once
// it occurs for the second time.
func TestOnLossIsForCorruption(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lost, guarded []string
		want          []string // losses
	}{
		"a missing table":                        {lost: []string{"000003.ldb"}, want: []string{"000003.ldb"}},
		"a missing log":                          {lost: []string{"000004.log"}, want: []string{"000004.log", "000005.log"}},
		"a guarded table":                        {guarded: []string{"000003.ldb"}},
		"a guarded log":                          {guarded: []string{"000004.log"}},
		"a missing table before a guarded one":   {lost: []string{"000003.ldb"}, guarded: []string{"000002.ldb"}, want: []string{"000003.ldb"}},
		"a missing table before a guarded log":   {lost: []string{"000003.ldb"}, guarded: []string{"000005.log"}, want: []string{"000003.ldb"}},
		"a missing log before a guarded one":     {lost: []string{"000004.log"}, guarded: []string{"000005.log"}}, // it may have been empty
		"a guarded table before a missing one":   {lost: []string{"000002.ldb"}, guarded: []string{"000003.ldb"}},
		"a guarded table and a log that is lost": {lost: []string{"000004.log"}, guarded: []string{"000003.ldb"}},
		"missing tables and a log that is lost":  {lost: []string{"000002.ldb", "000003.ldb", "000004.log"}, want: []string{"000003.ldb", "000002.ldb", "000004.log", "000005.log"}},
	} {
		files := newChanged(t).end(t)
		for _, file := range tt.lost {
			delete(files, file)
		}
		var losses []string
		o := &database.Options{OnLoss: func(l table.Loss) bool { losses = append(losses, l.File); return true }}
		refused := 0
		err := openError(&openedFS{FS: files, before: func(name string) error {
			if slices.Contains(tt.guarded, name) {
				refused++
				return fs.ErrPermission
			}
			return nil
		}}, o)
		if errors.Is(err, fs.ErrPermission) != (tt.guarded != nil) || (err == nil) != (tt.guarded == nil) || refused != 2*len(tt.guarded) {
			t.Errorf("%s: OpenFS = %v after %d refusals", name, err, refused)
		}
		if diff := cmp.Diff(tt.want, losses); diff != "" {
			t.Errorf("%s: losses (-want +got):\n%s", name, diff)
		}
	}
}

// If a file vanishes after the directory was listed, and the MANIFEST still names it, the database is corrupt.
func TestOpenOfVanishedFiles(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ missing, vanishes, lost string }{
		{"", "000002.ldb", "000002.ldb"}, {"", "000003.ldb", "000003.ldb"}, {"", "000004.log", "000004.log"}, {"", "000005.log", "000005.log"},
		{"000004.log", "000005.log", "000004.log"},
	} {
		files := newChanged(t).end(t)
		delete(files, tt.missing)
		err := openError(&openedFS{FS: files, before: func(opened string) error {
			if opened == tt.vanishes {
				return fs.ErrNotExist
			}
			return nil
		}}, nil)
		want := "database: " + tt.lost + " does not exist, but "
		if !errors.Is(err, table.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("OpenFS without %+v = %v, want %s", tt, err, want)
		}
	}
}

// Flaws in CURRENT or the MANIFEST that do not affect the contents are not errors, although an engine may refuse the
// database.
func TestOpenIgnoresFlaws(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		current string
		edit    []byte // the last one of the MANIFEST; nil: none
	}{
		"no newline in CURRENT":              {current: "MANIFEST-000001"},
		"a MANIFEST of another name":         {current: "MANIFEST-1\n"},
		"a next file number that is too low": {edit: versions.Field{Kind: versions.FieldNextFile, Table: versions.Table{Number: 2}}.Append(nil)},
	} {
		c := newChanged(t)
		files := c.end(t)
		if tt.edit != nil {
			files["MANIFEST-000001"].Data = tabletest.Log(t, c.header(c.next), tt.edit)
		}
		if tt.current != "" {
			files["CURRENT"].Data = []byte(tt.current)
			files[strings.TrimSuffix(tt.current, "\n")] = files["MANIFEST-000001"]
		}
		db := openFS(t, files, nil)
		if n := len(collect(t, db.View, nil)); n != 6 {
			t.Errorf("%s: %d pairs, want 6", name, n)
		}
	}
}

// If dir is a link, Open resolves it once. Later changes of the link have no effect, even one in each attempt.
func TestOpenFollowsLinkOnce(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	for _, name := range []string{"a", "b"} {
		var l layout
		l.table(t, 1, set("key", 1, name))
		l.table(t, 0, set("lost", 2, name))
		files := l.end(t)
		delete(files, "000003.ldb")
		noError(t, os.CopyFS(filepath.Join(parent, name), files))
	}
	link, next, swaps := filepath.Join(parent, "db"), filepath.Join(parent, "next"), 0
	if err := os.Symlink("a", link); err != nil {
		t.Skip(err) // Windows requires a privilege for it
	}
	db := openDir(t, link, &database.Options{OnLoss: func(l table.Loss) bool {
		swaps++
		if err := errors.Join(os.Symlink(string("ab"[swaps%2]), next), os.Rename(next, link)); err != nil {
			t.Error(err) // from any goroutine
		}
		return true
	}})
	if value, err := db.Get([]byte("key")); err != nil || string(value) != "a" || swaps != 1 {
		t.Errorf("Get = %q, %v, after %d changes of the link; want a, after 1", value, err, swaps)
	}
}

// If an engine reuses the number of a table between two attempts, the DB reads the new table.
func TestOpenOfReusedNumbers(t *testing.T) {
	t.Parallel()
	lay := func(missing bool, entries ...entry) fstest.MapFS {
		var l layout
		l.table(t, 1, entries...)
		name := l.write(t)
		files := l.end(t)
		if missing {
			delete(files, name)
		}
		return files
	}
	for name, newer := range map[string][]entry{
		"another size":      {set("a", 1, "old"), set("k", 2, "longer"), set("z", 3, "")},
		"another first key": {set("b", 1, "old"), set("k", 2, "new"), set("z", 3, "")},
		"another last key":  {set("a", 1, "old"), set("k", 2, "new"), set("y", 3, "")},
		"the same table":    {set("a", 1, "old"), set("k", 2, "old"), set("z", 3, "")},
	} {
		older := lay(true, set("a", 1, "old"), set("k", 2, "old"), set("z", 3, ""))
		fsys, next, listed := &openedFS{FS: older}, lay(false, newer...), false
		fsys.before = func(name string) error {
			if listed { // Open lists the directory last, for the logs
				fsys.FS = next
			}
			listed = listed || name == "."
			return nil
		}
		db := openFS(t, fsys, nil)
		checkGet(t, db.View, "k", newer[1].value, true)
		if got := collect(t, db.View, nil); len(got) != 3 || !bytes.Equal(got[0].Key, newer[0].UserKey) || !bytes.Equal(got[2].Key, newer[2].UserKey) {
			t.Errorf("%s: the DB has %q", name, got)
		}
		if err := db.Close(); err != nil || fsys.open.Load() != 0 {
			t.Errorf("%s: Close = %v, %d files are open", name, err, fsys.open.Load())
		}
	}
}
