package dbdir

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// A directory with the name of an unlisted table is skipped with a note, whether the MANIFEST is sound, damaged or
// missing. A directory with the name of a table that sound edits of a damaged MANIFEST list is a missing table.
func TestDirectoriesWithNamesOfTables(t *testing.T) {
	t.Parallel()
	second := versions.Field{Kind: versions.FieldAdd, Table: versions.Table{Number: 4, Smallest: []byte("a12345678"), Largest: []byte("b12345678")}}.Append(nil)
	sound, damaged := tabletest.Log(t, firstEdit(2)), tabletest.Log(t, firstEdit(2), second, second)
	damaged[bytes.LastIndex(damaged, second)] ^= 0x40
	for what, tt := range map[string]struct {
		manifest []byte
		missing  int
	}{"sound": {sound, 0}, "damaged": {damaged, 1}, "none": {nil, 0}} {
		files := map[string][]byte{"000002.log": nil}
		if tt.manifest != nil {
			files["CURRENT"], files["MANIFEST-000003"] = []byte("MANIFEST-000003\n"), tt.manifest
		}
		dir := filetest.WriteDir(t, files)
		for _, name := range []string{"000004.ldb", "000123.ldb"} {
			noError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		}
		for _, o := range []ListOptions{{}, {AllTables: true}, {Repair: true}} {
			d, err := ListDir(dir, o)
			noError(t, err)
			exists := func(l File) bool { return !l.Missing }
			if len(d.Tables) != tt.missing || slices.ContainsFunc(d.Tables, exists) {
				t.Errorf("%s, %+v: tables %v; want %d missing tables and no other", what, o, d.Tables, tt.missing)
			}
			if notes := strings.Join(d.Notes, "\n"); !strings.Contains(notes, "skipped directories with names of tables: 000004.ldb, 000123.ldb") {
				t.Errorf("%s, %+v: notes %q do not name the directories", what, o, notes)
			}
		}
	}
}

// A directory with the name of a log is skipped with a note, unless the MANIFEST makes the log live. Then it is lost.
func TestDirectoriesWithNamesOfLogs(t *testing.T) {
	t.Parallel()
	for what, tt := range map[string]struct {
		manifest []byte
		o        ListOptions
		logs     []string
		skipped  string
	}{
		"sound":      {tabletest.Log(t, firstEdit(2)), ListOptions{}, []string{"000002.log"}, ""},
		"all tables": {tabletest.Log(t, firstEdit(2)), ListOptions{AllTables: true}, []string{"000002.log"}, "000001.log"},
		"none":       {nil, ListOptions{}, nil, "000001.log, 000002.log"},
		"repair":     {nil, ListOptions{Repair: true}, nil, "000001.log, 000002.log"},
	} {
		files := map[string][]byte{"000004.ldb": nil, "CURRENT": []byte("MANIFEST-000003\n")}
		if tt.manifest != nil {
			files["MANIFEST-000003"] = tt.manifest
		}
		dir := filetest.WriteDir(t, files)
		for _, name := range []string{"000001.log", "000002.log"} {
			noError(t, os.Mkdir(filepath.Join(dir, name), 0o777))
		}
		d, err := ListDir(dir, tt.o)
		noError(t, err)
		var logs []string
		for _, l := range d.Logs {
			logs = append(logs, filepath.Base(l.Path))
		}
		if !slices.Equal(logs, tt.logs) {
			t.Errorf("%s: logs %q; want %q", what, logs, tt.logs)
		}
		_, skipped, _ := strings.Cut(strings.Join(d.Notes, "\n"), "skipped directories with names of logs: ")
		if skipped != tt.skipped {
			t.Errorf("%s: skipped %q; want %q", what, skipped, tt.skipped)
		}
	}
}

// A directory with the name of a log does not turn a directory of tables into a database without a MANIFEST.
func TestTablesBesideDirectoryWithNameOfLog(t *testing.T) {
	t.Parallel()
	dir := filetest.WriteDir(t, map[string][]byte{"tables.ldb": nil})
	noError(t, os.Mkdir(filepath.Join(dir, "000002.log"), 0o777))
	d, err := ListDir(dir, ListOptions{})
	noError(t, err)
	want := []string{dir + ": skipped directories with names of logs: 000002.log"}
	if len(d.Damage) > 0 || !slices.Equal(d.Notes, want) {
		t.Errorf("damage %v, notes %q; want none and %q", d.Damage, d.Notes, want)
	}
}
