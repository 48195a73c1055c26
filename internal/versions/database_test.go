package versions

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/wal"
)

// Edits move tables between levels: a table that is deleted from one level may be added to the next.
func TestEditsMoveTables(t *testing.T) {
	t.Parallel()
	e := versionBuilder{tables: map[tableID]*Table{}}
	for _, edit := range []string{
		"\x07\x00\x05\x10\x01a\x01b" + "\x07\x00\x06\x10\x01a\x01b",
		"\x07\x01\x05\x10\x01a\x01b" + "\x06\x00\x05", // no engine writes this order
		"\x06\x00\x09\x06\x01\x06",                    // absent tables
		"\x07\x00\x08\x10\x01a\x01b\x06\x00\x08",      // added and deleted
	} {
		noError(t, e.apply([]byte(edit)))
	}
	want := map[tableID]*Table{
		{1, 5}: {Level: 1, Number: 5, Size: 16, Smallest: []byte("a"), Largest: []byte("b")},
		{0, 6}: {Level: 0, Number: 6, Size: 16, Smallest: []byte("a"), Largest: []byte("b")},
		{0, 8}: {Level: 0, Number: 8, Size: 16, Smallest: []byte("a"), Largest: []byte("b")},
	}
	if diff := cmp.Diff(want, e.tables, cmp.AllowUnexported(tableID{})); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// Tables are ordered by level, and within a level by number, the highest first. In a history, they are ordered by number.
func TestOrderOfTables(t *testing.T) {
	t.Parallel()
	edits, all := []string{complete + "\x01\x01c"}, []*Table{}
	for i := range 3000 { // in several blocks of the MANIFEST
		table := Table{i % 2, uint64(7*i%3001) + 1, 16, fmt.Appendf(nil, "smallest%d", i), fmt.Appendf(nil, "largest%d", i)}
		edits, all = append(edits, string(Field{Kind: FieldAdd, Table: table}.Append(nil))), append(all, &table)
	}
	dir := writeEdits(t, edits...)
	v, err := Read(dir)
	noError(t, err)
	h, err := ReadHistory(dir, "MANIFEST-000001")
	noError(t, err)
	slices.SortFunc(all, func(a, b *Table) int { return int(a.Number) - int(b.Number) })
	if diff := cmp.Diff(all, h.Tables()); diff != "" || h.Comparer != "c" {
		t.Errorf("comparer %q; tables of the history (-want +got):\n%s", h.Comparer, diff)
	}
	slices.SortFunc(all, func(a, b *Table) int { return 10_000*(a.Level-b.Level) + int(b.Number) - int(a.Number) })
	if diff := cmp.Diff(all, v.Tables); diff != "" {
		t.Errorf("tables (-want +got):\n%s", diff)
	}
}

// For a file that is not regular, or is larger than in any database, Read returns an error that says so, and takes
// neither time nor memory.
func TestReadBounds(t *testing.T) {
	t.Parallel()
	sparse := func(size int64) func(path string) error {
		return func(path string) error { return errors.Join(os.WriteFile(path, nil, 0o666), os.Truncate(path, size)) }
	}
	link := func(path string) error { return os.Symlink(os.DevNull, path) }
	dir := func(path string) error { return os.Mkdir(path, 0o777) }
	many := func(path string) error {
		var edit []byte
		for i := range uint64(MaxTables + 1) {
			edit = append(binary.AppendUvarint(append(edit, byte(FieldAdd), 0), i), 0, 0, 0)
		}
		return os.WriteFile(path, tabletest.Log(t, edit), 0o666)
	}
	for _, tt := range []struct {
		name, file string
		make       func(path string) error
		want       string
	}{
		{"CURRENT of many bytes", "CURRENT", sparse(1 << 40), "CURRENT: 1099511627776 bytes exceed the limit of 4096"},
		{"CURRENT that is a device", "CURRENT", link, "CURRENT: a device, not a regular file"},
		{"CURRENT that is a directory", "CURRENT", dir, "CURRENT: a directory, not a regular file"},
		{"MANIFEST of many bytes", "MANIFEST-000001", sparse(1 << 40), "MANIFEST-000001: 1099511627776 bytes exceed the limit of 268435456"},
		{"MANIFEST that is a device", "MANIFEST-000001", link, "MANIFEST-000001: a device, not a regular file"},
		{"many tables", "MANIFEST-000001", many, "MANIFEST-000001: edit 0, at 0: more than 1048576 tables"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name == "many tables" {
				long.Test(t)
			}
			dir := t.TempDir()
			noError(t, os.WriteFile(filepath.Join(dir, "CURRENT"), []byte("MANIFEST-000001\n"), 0o666))
			path := filepath.Join(dir, tt.file)
			noError(t, os.RemoveAll(path))
			if err := tt.make(path); err != nil {
				t.Skip(err)
			}
			if v, err := Read(dir); err == nil || v != nil || !strings.HasSuffix(err.Error(), tt.want) {
				t.Errorf("Read = %v, %v; want %s", v, err, tt.want)
			}
		})
	}
}

// Invalid edits are errors, and valid ones do not add more tables than they have space for.
func FuzzApply(f *testing.F) {
	f.Add([]byte("\x01\x03abc\x02\x05\x03\x06\x04\x07\x05\x00\x01a\x06\x00\x09\x07\x00\x0a\x64\x01a\x01b\x09\x00"))
	f.Add([]byte("\x08"))
	f.Fuzz(func(t *testing.T, edit []byte) {
		e := versionBuilder{tables: map[tableID]*Table{}}
		if err := e.apply(edit); err == nil && len(e.tables) > len(edit)/6 {
			t.Errorf("%d bytes add %d tables", len(edit), len(e.tables))
		}
	})
}

// An addingFS is a database whose engine adds edits to its MANIFEST after Stat.
type addingFS struct{ fs.FS }

type addingFile struct{ *os.File }

func (a addingFS) Open(name string) (fs.File, error) {
	f, err := a.FS.Open(name)
	if err == nil && IsManifest(name) {
		return addingFile{f.(*os.File)}, nil
	}
	return f, err
}

func (a addingFile) Stat() (fs.FileInfo, error) {
	info, err := a.File.Stat()
	return sizeBefore{info}, err
}

type sizeBefore struct{ fs.FileInfo }

func (s sizeBefore) Size() int64 { return int64(wal.FragmentHeaderLen + len(complete)) }

// Edits that an engine adds while the MANIFEST is read are read too.
func TestEditsAddedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := writeEdits(t, complete, "\x07\x00\x05\x10\x01a\x01b")
	v, err := ReadDir(regular.DirIn(addingFS{os.DirFS(dir)}, "."))
	if noError(t, err); !v.Lists(5) || v.Torn != 0 {
		t.Errorf("tables %v, %d torn bytes", v.Tables, v.Torn)
	}
	noError(t, os.Truncate(filepath.Join(dir, "MANIFEST-000001"), sizeBefore{}.Size()+3))
	v, err = ReadDir(regular.DirIn(addingFS{os.DirFS(dir)}, "."))
	if noError(t, err); v.Lists(5) || v.Torn != 3 {
		t.Errorf("tables %v, %d torn bytes, want 3", v.Tables, v.Torn)
	}
}
