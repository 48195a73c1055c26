package report

import (
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// numLookups is the number of keys that are looked up in each table.
const numLookups = 5000

// An outcome is the course of a lookup, in the page or in the library.
type outcome struct {
	Key      string
	Whole    dbfile.FilterResult
	Block    int // the number of data blocks if the index has none
	Slot     int // -1: none
	Filter   dbfile.FilterResult
	Outcome  string
	Value    string // its start
	Length   int
	Sequence string // 0: none is known
}

// lookupAll looks up keys in the page.
const lookupAll = `({ keys, internal }) => keys.map((key) => {
	const path = lookup(Uint8Array.from(atob(key), (c) => c.charCodeAt(0)));
	const answer = (filter) => !filter ? 0 : filter.contains ? 1 : 2;
	const [first] = path.visits, last = path.visits.at(-1), entry = last?.entry;
	const found = path.outcome === "found" || path.outcome === "deleted";
	let sequence = 0n;
	if (found && internal) for (let i = 1; i < 8; i++) sequence = sequence << 8n | BigInt(entry.key[entry.key.length - i]);
	return {
		Key: key, Whole: answer(path.whole), Block: first?.block ?? -1,
		Slot: first?.filter && !first.filter.missing ? first.filter.slot : -1, Filter: answer(first?.filter),
		Outcome: path.outcome, Value: found ? btoa(String.fromCharCode(...entry.shown)) : "",
		Length: found ? entry.valueLength : 0, Sequence: sequence.toString(),
	};
})`

// want returns the outcome of the library's lookup, without the steps that the page does not reach if the table
// filter rules the key out.
func want(t *testing.T, f *dbfile.File, key []byte) outcome {
	p, err := f.Explain(key)
	o := outcome{Key: base64.StdEncoding.EncodeToString(key), Whole: p.TableFilter, Block: p.IndexEntry, Slot: p.FilterIndex, Filter: p.BlockFilter, Outcome: "absent", Sequence: "0"}
	if p.TableFilter == dbfile.Absent || p.IndexEntry == len(f.Layout.Data) {
		o.Block, o.Slot, o.Filter = -1, -1, dbfile.NotChecked
	}
	switch {
	case p.FilterOnly:
		o.Outcome = "maybe"
	case errors.Is(err, table.ErrCorrupt):
		o.Outcome = "damaged"
	case err != nil:
		t.Fatal(err)
	case p.Found:
		o.Outcome = "found"
		if p.Entry.Internal && p.Entry.Kind == internalkey.Delete {
			o.Outcome = "deleted"
		}
		value := p.Entry.Value
		o.Value, o.Length = base64.StdEncoding.EncodeToString(value[:min(len(value), maxShownValue)]), len(value)
		o.Sequence = fmt.Sprint(p.Entry.Sequence)
	}
	return o
}

// The page's lookups agree with the library's: the block, the filter, the results of the filters, and the entry.
func TestPageAgreesWithLibrary(t *testing.T) {
	long.Test(t)
	t.Parallel()
	bytes, plain := bytePairs(4000), plainPairs(3000)
	edges, err := workload.Dataset("byte-edges")
	noError(t, err)
	compareTables(t, []tableCase{
		{"few bits", table.WriterOptions{FilterPolicy: filter.NewBloom(1)}, bytes},
		{"ten bits", table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterBaseLg: 14}, bytes},
		{"many bits", table.WriterOptions{FilterPolicy: filter.NewBloom(44), BlockSize: 300}, edges},
		{"reserved k", table.WriterOptions{FilterPolicy: reserved{filter.NewBloom(10)}}, plain},
		{"whole table", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(8)}, bytes},
		{"whole table, many bits", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(40), Compression: table.NoCompression}, plain},
		{"both", both, bytes},
		{"fuse", table.WriterOptions{TableFilterPolicy: fusePolicy(t, 16)}, plain},
		{"fuse and blocks", table.WriterOptions{FilterPolicy: filter.NewBloom(3), TableFilterPolicy: fusePolicy(t, 4)}, bytes},
		{"no filter", table.WriterOptions{}, bytes},
		{"empty", both, nil},
	})
}

// The same holds for tables of databases, in which the newest version of a key counts.
func TestPageAgreesOnDatabases(t *testing.T) {
	t.Parallel()
	versions := workload.Versions(workload.Writes(4, 900, 30))
	compareTables(t, []tableCase{
		{"internal keys", internalOptions(table.WriterOptions{FilterPolicy: filter.NewBloom(10)}), versions},
		{"internal keys, one a block", internalOptions(table.WriterOptions{BlockSize: 1, FilterPolicy: filter.NewBloom(2), FilterBaseLg: 5}), versions},
		{"internal keys, both", internalOptions(both), versions},
	})
}

// The same holds for filters of LevelDB 1.17, whose hash treats the last bytes of a key as signed.
func TestPageAgreesOnOlderFilters(t *testing.T) {
	t.Parallel()
	edges, err := workload.Dataset("byte-edges")
	noError(t, err)
	for _, name := range []string{"byte-edges", "bits-20"} {
		f := openTable(t, filepath.Join("../../../../../testdata/leveldb-1.17", name+".ldb"))
		compareLookups(t, pagetest.Open(t, writePage(t, f, Options{Embed: 1 << 20}), 1000), f, edges)
	}
}

type tableCase struct {
	name  string
	o     table.WriterOptions
	pairs []workload.Pair
}

// both has block filters and a table filter, with many false positives.
var both = table.WriterOptions{FilterPolicy: filter.NewBloom(3), TableFilterPolicy: filter.NewTableBloom(3), Properties: true}

func compareTables(t *testing.T, tables []tableCase) {
	for _, tt := range tables {
		t.Run(tt.name, func(t *testing.T) {
			f := openTable(t, writeTable(t, "t.ldb", tt.o, tt.pairs))
			if tt.o.Comparer != nil != f.Internal || f.FilterUnusable {
				t.Fatalf("internal keys: %v, filter not used: %v", f.Internal, f.FilterUnusable)
			}
			compareLookups(t, pagetest.Open(t, writePage(t, f, Options{Embed: 1 << 20}), 1000), f, tt.pairs)
		})
	}
}

// A data block without a block filter may contain any key.
func TestPageWithoutSlot(t *testing.T) {
	t.Parallel()
	pairs := []workload.Pair{{Key: []byte("a"), Value: []byte("1")}, {Key: []byte("b"), Value: []byte("2")}}
	f := openTable(t, writeFile(t, "t.ldb", tableOfOneFilter(t, pairs)))
	if blocks := f.Filters().Blocks; blocks == nil || blocks.Len() != 1 {
		t.Fatal("the table has not one filter")
	}
	compareLookups(t, pagetest.Open(t, writePage(t, f, Options{Embed: 1000}), 1000), f, pairs)
}

// tableOfOneFilter returns a table with a block for each pair, and a filter for the first block only.
func tableOfOneFilter(t *testing.T, pairs []workload.Pair) []byte {
	w, err := filter.NewBlockWriter(filter.NewBloom(10), 4)
	noError(t, err)
	noError(t, w.StartBlock(0))
	w.Add(pairs[0].Key)
	filters, err := w.Finish()
	noError(t, err)
	var file rawtable.File
	var index []string
	for _, p := range pairs {
		index = append(index, string(p.Key), file.Block(rawtable.Entries(string(p.Key), string(p.Value))))
	}
	metaindex := file.Block(rawtable.Entries("filter.leveldb.BuiltinBloomFilter2", file.Block(string(filters))))
	return file.Footer(metaindex, file.Block(rawtable.Entries(index...)))
}

// If a separator is a version of a key that only the next block contains, the lookup continues there.
func TestPageGoesOn(t *testing.T) {
	t.Parallel()
	var file rawtable.File
	version := func(user string, sequence uint64) string {
		return string(internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Set}.Append(nil))
	}
	first := file.Block(rawtable.Entries(version("a", 1), "1"))
	second := file.Block(rawtable.Entries(version("b", 2), "2"))
	metaindex := file.Block(rawtable.Restarts(0))
	index := file.Block(rawtable.Entries(version("b", internalkey.MaxSequence), first, version("b", 2), second))
	f := openTable(t, writeFile(t, "t.ldb", file.Footer(metaindex, index)))
	if _, found, err := f.Get([]byte("b")); !f.Internal || !found || err != nil {
		t.Fatalf("internal keys: %v, the library finds the key: %v, %v", f.Internal, found, err)
	}
	page := pagetest.Open(t, writePage(t, f, Options{Embed: 1000}), 1000)
	compareLookups(t, page, f, []workload.Pair{{Key: []byte(version("a", 1))}, {Key: []byte(version("b", 2))}})
}

// compareLookups looks up keys in the page and in the library, and compares the outcomes.
func compareLookups(t *testing.T, page *pagetest.Tab, f *dbfile.File, pairs []workload.Pair) {
	t.Helper()
	var present [][]byte
	for _, p := range pairs {
		present = append(present, f.FilterKey(p.Key))
	}
	keys := questions(present, numLookups)
	var wanted []outcome
	for _, key := range keys {
		wanted = append(wanted, want(t, f, key))
	}
	got := pagetest.Call[[]outcome](page, lookupAll, map[string]any{"keys": keys, "internal": f.Internal})
	if len(got) != numLookups {
		t.Fatalf("%d answers, want %d", len(got), numLookups)
	}
	for i, w := range wanted {
		if diff := cmp.Diff(w, got[i]); diff != "" {
			t.Fatalf("key %q (-library +page):\n%s", keys[i], diff)
		}
	}
}

// A lookup in the page checks exactly the bits that are set in a filter of that one key.
func TestPageProbes(t *testing.T) {
	t.Parallel()
	pairs := bytePairs(1200)
	o := table.WriterOptions{FilterPolicy: filter.NewBloom(20), BlockSize: 1, FilterBaseLg: 1, Compression: table.NoCompression}
	f := openTable(t, writeTable(t, "t.ldb", o, pairs))
	page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
	var keys [][]byte
	var wanted [][]int
	blocks := f.Filters().Blocks
	for i, part := range f.Layout.Data {
		keys = append(keys, pairs[i].Key)
		wanted = append(wanted, bitsSet(blocks.Filter(int(part.Offset>>1))))
	}
	got := pagetest.Call[[][]int](page, `(keys) => keys.map((key) => {
		const [visit] = lookup(Uint8Array.from(atob(key), (c) => c.charCodeAt(0))).visits;
		return [...new Set(visit.filter.probes.map((probe) => probe.bit))].sort((a, b) => a - b);
	})`, keys)
	for i, key := range keys {
		if diff := cmp.Diff(wanted[i], got[i]); diff != "" {
			t.Fatalf("key %q (-filter +page):\n%s", key, diff)
		}
	}
}

// bitsSet returns the numbers of a filter's set bits.
func bitsSet(f []byte) []int {
	var set []int
	for i := range 8 * (len(f) - 1) {
		if f[i/8]>>(i%8)&1 == 1 {
			set = append(set, i)
		}
	}
	return set
}

// Lookups that reach a damaged block, or one whose entries are not in the page, say so.
func TestPageWithoutEntries(t *testing.T) {
	t.Parallel()
	pairs := plainPairs(3000)
	path := writeTable(t, "t.ldb", table.WriterOptions{FilterPolicy: filter.NewBloom(10), Compression: table.NoCompression}, pairs)
	f := openTable(t, path)
	flipAt(t, path, int64(f.Layout.Data[3].Offset)+9)
	compareLookups(t, pagetest.Open(t, writePage(t, f, Options{Embed: 1 << 20}), 1000), f, pairs)

	_, damaged := New(f, Options{})
	page := pagetest.Open(t, writePage(t, f, Options{Embed: 50_000, Source: `'it'\''s.ldb'`}), 1000)
	for _, tt := range []struct{ key, want string }{
		{"key000400", "⚠ Damaged “key000400” The lookup needs a damaged block: " + damaged.Error()},
		{"key000001", "✓ Found “key000001” It has a value of 31 bytes, “value of 1, and some more of it”."},
		{"key002000", `? Not in the page “key002000” This page leaves out the block's keys. To look it up, run: sst get 'it'\''s.ldb' key002000`},
	} {
		page.Submit("#key", tt.key)
		checkText(t, page, "#answer", tt.want)
	}
}
