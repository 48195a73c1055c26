package command

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// Of a table that was never listed, a repair keeps an entry if a damaged log can have lost it, by its sequence number.
// The others were never committed.
func TestSpareTablesBesideLostWrites(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(t *testing.T, log string)
		want   string
	}{
		"none":            {func(*testing.T, string) {}, "l5 l6 l7 l8"},
		"the first write": {func(t *testing.T, log string) { flipAt(t, log, 10) }, "l6 l7 l8 s1 s2 s3 s4 s5 s6 s7"}, // the others may be of a log in a value
		"the end":         {func(t *testing.T, log string) { os.Truncate(log, 60) }, "l5 l6 l8 s7"},
		"the log":         {func(t *testing.T, log string) { os.Truncate(log, 0) }, "l8 s1 s2 s3 s4 s5 s6 s7"},
	} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		d.log(t, []rawEntry{{"l5", 5, 1, "5"}, {"l6", 6, 1, "6"}, {"l7", 7, 1, "7"}})
		d.log(t, []rawEntry{{"l8", 8, 1, "8"}})
		var entries []rawEntry
		for i := range uint64(12) {
			entries = append(entries, rawEntry{fmt.Sprint("s", i+1), i + 1, 1, "spare"})
		}
		d.table(t, 0, 1, entries, nil)
		d.tables, d.last = nil, 4
		d.end(t)
		tt.damage(t, filepath.Join(d.dir, "000001.log"))
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		got := strings.Join(strings.Fields(mustSST(t, "scan", "--keys", d.dir+".new")), " ")
		if diff := cmp.Diff(tt.want, got); diff != "" || (status == cli.ExitOK) != (name == "none") {
			t.Errorf("%s damaged: status %d (-want +got):\n%s\n%s%s", name, status, diff, out, stderr)
		}
	}
}

// A repair finds the blocks of a table without its index, whether a MANIFEST lists the table or there is none.
func TestRepairWithoutIndex(t *testing.T) {
	t.Parallel()
	for _, isListed := range []bool{true, false} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		file := d.table(t, 1, 2, numberedEntries(20), nil)
		d.table(t, 1, 2, []rawEntry{{"x", 30, 1, "sound"}}, nil)
		d.end(t)
		flipAt(t, file, int64(layoutOf(t, file).Index.Offset))
		if !isListed {
			os.Remove(filepath.Join(d.dir, "CURRENT"))
			os.Remove(filepath.Join(d.dir, "MANIFEST-000000"))
		}
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		_, got, _ := sst("scan", d.dir+".new")
		if n := strings.Count(got, "\n"); n != 21 {
			t.Errorf("listed %t: repair: status %d, %d pairs, want 21\n%s%s", isListed, status, n, out, stderr)
		}
	}
}

// A table that the MANIFEST has deleted is obsolete: a repair does not read it, also if the end of the MANIFEST is cut.
func TestRepairLeavesObsoleteTables(t *testing.T) {
	t.Parallel()
	for _, end := range []string{"", "\x01\x02\x03\x04\xff\x00\x01cut"} {
		d := &rawDatabase{dir: filepath.Join(t.TempDir(), "db")}
		d.table(t, 1, 1, []rawEntry{{"deleted", 1, 1, "1"}}, nil)
		d.table(t, 1, 1, []rawEntry{{"kept", 2, 1, "2"}}, nil)
		d.end(t)
		var edit bytes.Buffer
		removed := versions.Field{Kind: versions.FieldDelete, Table: versions.Table{Level: 1, Number: 1}}.Append(nil)
		contents, err := os.ReadFile(filepath.Join(d.dir, "MANIFEST-000000"))
		if err := errors.Join(err, wal.NewWriter(&edit).Append(removed)); err != nil {
			t.Fatal(err)
		}
		d.write(t, "MANIFEST-000000", append(append(contents, edit.Bytes()...), end...))
		status, out, stderr := sst("repair", d.dir, "-o", d.dir+".new")
		if got := mustSST(t, "scan", d.dir+".new"); got != "kept\t2\n" {
			t.Errorf("end %q: repair: status %d, %q\n%s%s", end, status, got, out, stderr)
		}
	}
}
