package table_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

func TestProperties(t *testing.T) {
	t.Parallel()
	internalPairs := []workload.Pair{
		{Key: internalKey("a", 3, internalkey.Set), Value: []byte("1")},
		{Key: internalKey("a", 2, internalkey.Delete)},
		{Key: internalKey("b", 1, internalkey.Delete)},
	}
	indexType := map[string][]byte{"rocksdb.block.based.table.index.type": {0, 0, 0, 0}}
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
		want  layout.Properties
	}{
		{
			"empty", table.WriterOptions{}, nil,
			layout.Properties{Comparer: "leveldb.BytewiseComparator", Compression: "Snappy", IndexSize: 8, BlockSize: 4096, RestartInterval: 16},
		},
		{
			"two blocks, raw",
			table.WriterOptions{BlockSize: 1, RestartInterval: 2, Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10)},
			pairsOf("a", "bb"),
			layout.Properties{Entries: 2, RawKeySize: 3, RawValueSize: 21, DataBlocks: 2, DataSize: 46, IndexSize: 24, FilterSize: 18,
				FilterPolicy: "leveldb.BuiltinBloomFilter", Comparer: "leveldb.BytewiseComparator", Compression: "NoCompression",
				BlockSize: 1, RestartInterval: 2, FilterBaseLg: 11},
		},
		{
			"internal keys, both filters, two goroutines",
			table.WriterOptions{Comparer: table.InternalComparer(descendingComparer{}), FilterKey: internalkey.UserKey, Concurrency: 2,
				Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10), FilterBaseLg: 12, TableFilterPolicy: filter.NewTableBloom(10)},
			[]workload.Pair{internalPairs[2], internalPairs[0], internalPairs[1]},
			layout.Properties{Entries: 3, Deletions: 2, RawKeySize: 27, RawValueSize: 1, DataBlocks: 1, DataSize: 44, IndexSize: 22, FilterSize: 18 + 69, FilterEntries: 3,
				FilterPolicy: "rocksdb.BuiltinBloomFilter", Comparer: "test.Descending", Compression: "NoCompression",
				BlockSize: 4096, RestartInterval: 16, FilterBaseLg: 12},
		},
		{
			"filter only: versions of a key count once",
			table.WriterOptions{Comparer: table.InternalComparer(nil), TableFilterPolicy: filter.NewTableBloom(10), FilterOnly: true},
			[]workload.Pair{{Key: internalPairs[0].Key}, internalPairs[1], internalPairs[2]},
			layout.Properties{FilterOnly: true, FilterEntries: 2, FilterSize: 69, IndexSize: 8, FilterPolicy: "rocksdb.BuiltinBloomFilter",
				Comparer: "leveldb.BytewiseComparator", Compression: "Snappy", BlockSize: 4096, RestartInterval: 16},
		},
	} {
		tt.o.Properties = true
		contents := build(t, &tt.o, tt.pairs)
		r := open(t, contents, &table.ReaderOptions{Comparer: tt.o.Comparer, FilterKey: tt.o.FilterKey})
		got, err := r.Properties()
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		tt.want.Other = indexType
		checkDiff(t, tt.name, tt.want, *got)
		checkSound(t, tt.name, r)
	}
}

// Other engines' properties are kept. Corrupt ones are an error only of Properties.
func TestReadProperties(t *testing.T) {
	t.Parallel()
	many := []string{}
	for i := range 1001 {
		many = append(many, string([]byte{byte(i >> 8), byte(i)}), "")
	}
	for _, tt := range []struct {
		name, block string
		want        layout.Properties
		err         string
	}{
		{"none that is known", rawtable.Entries("my.property", "\xff"), layout.Properties{Other: map[string][]byte{"my.property": {0xff}}}, ""},
		{"some", rawtable.Entries("rocksdb.comparator", "x", "rocksdb.num.entries", "\x80\x01"), layout.Properties{Entries: 128, Comparer: "x"}, ""},
		{"no block", "no block", layout.Properties{}, "properties block at 54: restart count"},
		{"no varint", rawtable.Entries("rocksdb.num.entries", "\x80"), layout.Properties{}, "properties block at 54: property rocksdb.num.entries is 80, not a minimal varint"},
		{"too much", rawtable.Entries("rocksdb.num.entries", "\x01\x01"), layout.Properties{}, "is 0101, not a minimal varint"},
		{"too many", rawtable.Entries(many...), layout.Properties{}, "more than 1000 properties"},
	} {
		got, err := open(t, soundBut(func(p *twoBlocks) {
			p.filter = tt.block
			p.meta = func(h string) string { return rawtable.Entries("rocksdb.properties", h) }
		}), nil).Properties()
		if tt.err != "" {
			checkError(t, tt.name, err, table.ErrCorrupt, tt.err)
			continue
		}
		noError(t, err)
		checkDiff(t, tt.name, tt.want, *got, cmpopts.EquateEmpty())
	}
	r := open(t, build(t, nil, nil), nil)
	checkError(t, "Properties of a table without", errorOf(r.Properties()), table.ErrNotFound, "")
	noError(t, r.Close())
	checkError(t, "Properties of a closed Reader", errorOf(r.Properties()), table.ErrClosed, "")
}

// partsFiltered is the bytewise order, with the first byte of a key as filter key.
type partsFiltered struct{ table.Comparer }

func (partsFiltered) FilterKey(key []byte) []byte { return key[:min(1, len(key))] }

// Tables that RocksDB can ingest have the properties for it. Tables for which it would return wrong results do not.
func TestExternalFile(t *testing.T) {
	t.Parallel()
	filtered := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	with := func(o table.WriterOptions, change func(o *table.WriterOptions)) table.WriterOptions {
		change(&o)
		return o
	}
	set := func(user string) []byte { return internalKey(user, 0, internalkey.Set) }
	deleted := func(user string) []byte { return internalKey(user, 0, internalkey.Delete) }
	sound := [][]byte{set(""), set("ab"), deleted("ac"), set("b")}
	for name, tt := range map[string]struct {
		o    table.WriterOptions
		keys [][]byte
		want bool
	}{
		"no filter":                  {table.WriterOptions{}, sound, true},
		"both filters":               {with(filtered, func(o *table.WriterOptions) { o.FilterPolicy = filter.NewBloom(10) }), sound, true},
		"blocks of one entry":        {with(filtered, func(o *table.WriterOptions) { o.BlockSize = 1 }), sound, true},
		"another order of user keys": {table.WriterOptions{Comparer: table.InternalComparer(descendingComparer{})}, [][]byte{set("b"), set("a")}, true},
		"UserKey":                    {with(filtered, func(o *table.WriterOptions) { o.FilterKey = internalkey.UserKey }), sound, true},
		"a FilterKey of parts":       {with(filtered, func(o *table.WriterOptions) { o.FilterKey = partsFiltered{}.FilterKey }), sound, false},
		"a FilterKey of nothing":     {with(filtered, func(o *table.WriterOptions) { o.FilterKey = func([]byte) []byte { return nil } }), [][]byte{set("")}, false},
		"a Comparer whose filter keys are parts": {with(filtered, func(o *table.WriterOptions) {
			o.Comparer = table.InternalComparer(partsFiltered{table.BytewiseComparer})
		}), sound, false},
		"parts in LevelDB's filter only": {table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: partsFiltered{}.FilterKey}, sound, true},
		"a sequence number at the start": {filtered, [][]byte{internalKey("a", 1, internalkey.Set), set("b"), set("c")}, false},
		"a sequence number between":      {filtered, [][]byte{set("a"), internalKey("b", 1, internalkey.Delete), set("c")}, false},
		"a sequence number at the end":   {filtered, [][]byte{set("a"), set("b"), internalKey("c", internalkey.MaxSequence, internalkey.Set)}, false},
		"a kind that is not LevelDB's":   {filtered, [][]byte{set("a"), internalKey("b", 0, 2)}, false},
		"two kinds of a user key":        {filtered, [][]byte{set("a"), set("b"), deleted("b")}, false},
		"the same, in two blocks":        {with(filtered, func(o *table.WriterOptions) { o.BlockSize = 1 }), [][]byte{set("b"), deleted("b"), set("c")}, false},
		"two kinds of the empty key":     {table.WriterOptions{}, [][]byte{set(""), deleted("")}, false},
		"a key that is too short":        {table.WriterOptions{}, [][]byte{[]byte("short"), set("a")}, false},
		"any order":                      {with(filtered, func(o *table.WriterOptions) { o.Comparer = table.InternalComparer(table.AnyOrder) }), sound, false},
		"keys that only look internal":   {with(filtered, func(o *table.WriterOptions) { o.Comparer = table.BytewiseComparer }), [][]byte{set("a"), set("b")}, false},
		"no entries":                     {filtered, nil, false},
		"filter only":                    {with(filtered, func(o *table.WriterOptions) { o.FilterOnly = true }), sound, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := tt.o
			o.Properties = true
			if o.Comparer == nil {
				o.Comparer = table.InternalComparer(nil)
			}
			var pairs []workload.Pair
			for _, k := range tt.keys {
				pairs = append(pairs, workload.Pair{Key: k})
			}
			contents := build(t, &o, pairs)
			p, err := open(t, contents, &table.ReaderOptions{Comparer: o.Comparer, FilterKey: o.FilterKey}).Properties()
			noError(t, err)
			want := map[string][]byte{"rocksdb.block.based.table.index.type": {0, 0, 0, 0}}
			if tt.want {
				want["rocksdb.external_sst_file.version"] = []byte{2, 0, 0, 0}
				want["rocksdb.external_sst_file.global_seqno"] = make([]byte, 8)
			}
			checkDiff(t, "other properties", want, p.Other)
			o.Concurrency = 3
			if again := build(t, &o, pairs); !bytes.Equal(again, contents) {
				t.Error("other bytes with three goroutines")
			}
		})
	}
}
