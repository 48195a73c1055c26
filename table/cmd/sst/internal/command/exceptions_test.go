package command

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
)

// writeWithNever writes a table with the keys of 0 to 99, and a --never list with the keys of 100 to 5099.
func writeWithNever(t *testing.T, path string, o *table.WriterOptions, key func(i int) []byte) {
	t.Helper()
	o.TableFilterPolicy = filter.NewTableBloom(1)
	o.Never = func(yield func([]byte, error) bool) {
		for i := 100; i < 5100 && yield(key(i), nil); i++ {
		}
	}
	writeEntries(t, path, *o, 100, func(i int) string { return string(key(i)) }, func(int) string { return "value" })
}

// Exceptions are kept in any order of keys.
func TestExceptionsInReverseOrder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old, converted := filepath.Join(dir, "old.ldb"), filepath.Join(dir, "new.ldb")
	order := comparers.ByFlagValue("reverse")
	writeWithNever(t, old, &table.WriterOptions{Comparer: order}, func(i int) []byte { return fmt.Appendf(nil, "%05d", 90_000-i) })
	status, _, stderr := sst("convert", "--comparator", "reverse", old, "-o", converted)
	if status != cli.ExitOK || stderr != "" {
		t.Fatalf("status %d, %s, want 0 and no note", status, stderr)
	}
	want := exceptionsIn(t, old, order)
	if diff := cmp.Diff(want, exceptionsIn(t, converted, order)); diff != "" || len(want) == 0 {
		t.Errorf("%d exceptions, and in the new table (-want +got):\n%s", len(want), diff)
	}
}

// exceptionsIn returns the exceptions of a table.
func exceptionsIn(t *testing.T, path string, order table.Comparer) (keys []string) {
	t.Helper()
	r, err := table.Open(path, &table.ReaderOptions{Comparer: order, TableFilterPolicies: tablefilter.Policies()})
	noError(t, err)
	defer r.Close()
	for key := range r.Filters().Never.All() {
		keys = append(keys, string(key))
	}
	return keys
}

// A table that rules out some of its own keys is damaged, and salvage recovers them.
func TestExceptionsThatAreKeys(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	damaged, rescued := filepath.Join(dir, "damaged.ldb"), filepath.Join(dir, "rescued.ldb")
	key := func(i int) []byte { return fmt.Appendf(nil, "%05d", i) }
	filterKey := func(key []byte) []byte { // the list's 00200 stands for 00000, and so on
		if string(key) < "00200" {
			return key
		}
		return slices.Concat([]byte("000"), key[3:])
	}
	writeWithNever(t, damaged, &table.WriterOptions{FilterKey: filterKey}, key)
	status, _, stderr := sst("convert", damaged, "-o", rescued)
	if want := `: key "00000" of the table is also an exception`; status != cli.ExitDamaged || !strings.Contains(stderr, want) || !strings.Contains(stderr, "sst repair") {
		t.Errorf("convert: status %d, %s, want %d and %s", status, stderr, cli.ExitDamaged, want)
	}
	status, _, stderr = sst("repair", damaged, "-o", rescued)
	if want := "sst: note: dropped 124 exceptions of the filter: the table contains one of them\n"; status != cli.ExitOK || stderr != want {
		t.Errorf("salvage: status %d, %q, want %d and %q", status, stderr, cli.ExitOK, want)
	}
	checkPrints(t, "value\n", "get", rescued, "00000")
}

// Exceptions of a forged block, which share nearly all of their bytes, do not fill the memory.
func TestExceptionsThatAreVeryLong(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	data := f.Block(rawtable.Entries("a", "value"))
	whole := f.Block("\xff" + strings.Repeat("\xff", 63) + "\x01\x01\x00\x00\x00")
	const shared, n = 1 << 16, 1 << 12
	never := []byte(rawtable.Entry(0, strings.Repeat("k", shared), ""))
	for i := range n {
		never = append(never, rawtable.Entry(shared, fmt.Sprintf("%04d", i), "")...)
	}
	block := f.Block(string(never) + rawtable.Restarts(0))
	meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "sievetable.never", block))
	dir := t.TempDir()
	forged, converted := filepath.Join(dir, "forged.ldb"), filepath.Join(dir, "converted.ldb")
	writeFile(t, forged, f.Footer(meta, f.Block(rawtable.Entries("a", data))))
	for _, command := range []string{"convert", "repair"} {
		status, _, stderr := sst(command, forged, "-o", converted)
		if want := "sst: note: dropped 4,097 exceptions of the filter: they are over 16 times as long as their block\n"; status != cli.ExitOK || stderr != want {
			t.Errorf("%s: status %d, %q, want %d and %q", command, status, stderr, cli.ExitOK, want)
		}
	}
}
