package dbdir

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// randomEdits returns edits of a MANIFEST, and the tables that they list if the damaged edit is ignored.
func randomEdits(rng *rand.Rand, damaged int) (edits [][]byte, listed map[uint64]bool) {
	edits, listed = [][]byte{firstEdit(2)}, map[uint64]bool{}
	var added []uint64
	for len(edits) < 6 {
		var edit []byte
		if len(added) > 0 && rng.IntN(2) == 0 {
			old := versions.Table{Level: 1, Number: added[rng.IntN(len(added))]}
			edit = versions.Field{Kind: versions.FieldDelete, Table: old}.Append(edit)
			if len(edits) != damaged {
				delete(listed, old.Number)
			}
		}
		for range 1 + rng.IntN(3) {
			n := uint64(len(added) + 10)
			t := versions.Table{Level: 1, Number: n, Size: 9, Smallest: []byte("a12345678"), Largest: []byte("b12345678")}
			edit, added = versions.Field{Kind: versions.FieldAdd, Table: t}.Append(edit), append(added, n)
			if len(edits) != damaged {
				listed[n] = true
			}
		}
		edits = append(edits, edit)
	}
	return edits, listed
}

// If an edit of the newest MANIFEST is damaged, absent tables that the other edits list are missing, even if an
// older MANIFEST is read instead.
func TestMissingTablesOfADamagedManifest(t *testing.T) {
	t.Parallel()
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 51))
		damaged := 1 + rng.IntN(5)
		edits, want := randomEdits(rng, damaged)
		manifest := tabletest.Log(t, edits...)
		manifest[bytes.Index(manifest, edits[damaged])] ^= 0x40
		files := map[string][]byte{"CURRENT": []byte("MANIFEST-000005\n"), "MANIFEST-000005": manifest}
		if rng.IntN(2) == 0 {
			files["MANIFEST-000003"] = tabletest.Log(t, edits[:1+rng.IntN(2)]...)
		}
		for n := range want {
			if rng.IntN(2) == 0 {
				files[fmt.Sprintf("%06d.%s", n, []string{"ldb", "sst"}[rng.IntN(2)])] = nil
				delete(want, n)
			}
		}
		dir := filetest.WriteDir(t, files)
		for _, o := range []ListOptions{{}, {AllTables: true}, {Repair: true}} {
			d, err := ListDir(dir, o)
			noError(t, err)
			got := map[uint64]bool{}
			for _, l := range d.Tables {
				if l.Missing {
					got[l.number] = true
				}
			}
			for n := range want {
				if !got[n] {
					t.Errorf("seed %d, %+v: the damaged MANIFEST lists %d, which is not among the missing tables", seed, o, n)
				}
			}
			if _, hasOlder := files["MANIFEST-000003"]; !hasOlder && len(got) > len(want) {
				t.Errorf("seed %d, %+v: missing tables (-want +got):\n%s", seed, o, cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))))
			}
		}
	}
}

// A MANIFEST without a sound edit marks no table obsolete.
func TestMANIFESTWithoutEdits(t *testing.T) {
	t.Parallel()
	damaged := tabletest.Log(t, firstEdit(2))
	damaged[7] ^= 1
	for name, manifest := range map[string][]byte{"empty": nil, "damaged": damaged} {
		dir := filetest.WriteDir(t, map[string][]byte{"CURRENT": []byte("MANIFEST-000005\n"), "MANIFEST-000005": manifest, "000007.ldb": nil})
		d, err := ListDir(dir, ListOptions{Repair: true})
		if err != nil || len(d.Damage) != 1 || !strings.Contains(d.Damage[0].Error(), ": reading all tables in the directory. ") {
			t.Errorf("%s: ListDir = %v, %v; want damage because of which all tables are read", name, d.Damage, err)
		}
	}
}

// Beside a sound MANIFEST, a repair does not read the deletions in obsolete tables, since no lost edit can bring
// back the deleted entries. Beside a torn one, it does.
func TestObsoleteTables(t *testing.T) {
	t.Parallel()
	old := versions.Table{Level: 1, Number: 10, Size: 9, Smallest: []byte("a12345678"), Largest: []byte("b12345678")}
	added := versions.Field{Kind: versions.FieldAdd, Table: old}.Append(nil)
	deleted := versions.Field{Kind: versions.FieldDelete, Table: old}.Append(nil)
	sound := tabletest.Log(t, firstEdit(2), added, deleted)
	for name, tt := range map[string]struct {
		manifest []byte
		obsolete int
	}{"sound": {sound, 0}, "torn": {slices.Concat(sound, tabletest.Log(t, added)[:9]), 1}} {
		dir := filetest.WriteDir(t, map[string][]byte{"CURRENT": []byte("MANIFEST-000005\n"), "MANIFEST-000005": tt.manifest, "000010.ldb": nil, "000002.log": nil})
		d, err := ListDir(dir, ListOptions{Repair: true})
		noError(t, err)
		if len(d.Tables) != tt.obsolete || tt.obsolete > 0 && !d.Tables[0].Obsolete {
			t.Errorf("%s: ListDir lists %v, want %d obsolete tables and no other", name, d.Tables, tt.obsolete)
		}
	}
}

// An engine can write a table and add it to the MANIFEST after the directory was listed, but before the MANIFEST is
// read.
func TestTableWrittenMeanwhile(t *testing.T) {
	t.Parallel()
	names := []string{"CURRENT", "MANIFEST-000001"}
	added := versions.Field{Kind: versions.FieldAdd, Table: versions.Table{Number: 3, Size: 1, Smallest: []byte("a12345678"), Largest: []byte("b12345678")}}
	dir := filetest.WriteDir(t, map[string][]byte{
		names[0]: []byte(names[1] + "\n"), names[1]: tabletest.Log(t, firstEdit(0), added.Append(nil)), "000003.ldb": {0},
	})
	d := Dir{Path: dir}
	noError(t, d.applyState(ListOptions{}, names))
	if lacks := d.lacks(); len(d.Tables) != 1 || lacks != nil {
		t.Errorf("%d tables, and %q are missing", len(d.Tables), lacks)
	}
}
