package table_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

func TestProperties(t *testing.T) {
	t.Parallel()
	internalPairs := []workload.Pair{
		{Key: internalKey("a", 3, table.KindSet), Value: []byte("1")},
		{Key: internalKey("a", 2, table.KindDelete)},
		{Key: internalKey("b", 1, table.KindDelete)},
	}
	indexType := map[string][]byte{"rocksdb.block.based.table.index.type": {0, 0, 0, 0}}
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		pairs []workload.Pair
		want  table.Properties
	}{
		{
			"empty", table.WriterOptions{}, nil,
			table.Properties{Comparer: "leveldb.BytewiseComparator", Compression: "Snappy", IndexSize: 8, BlockSize: 4096, RestartInterval: 16},
		},
		{
			"two blocks, raw",
			table.WriterOptions{BlockSize: 1, RestartInterval: 2, Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10)},
			pairsOf("a", "bb"),
			table.Properties{Entries: 2, RawKeySize: 3, RawValueSize: 21, DataBlocks: 2, DataSize: 46, IndexSize: 24, FilterSize: 18,
				FilterPolicy: "leveldb.BuiltinBloomFilter", Comparer: "leveldb.BytewiseComparator", Compression: "NoCompression",
				BlockSize: 1, RestartInterval: 2, FilterBaseLg: 11},
		},
		{
			"internal keys, both filters, two goroutines",
			table.WriterOptions{Comparer: table.InternalComparer(descendingComparer{}), FilterKey: table.InternalFilterKey, Concurrency: 2,
				Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10), FilterBaseLg: 12, TableFilterPolicy: filter.NewTableBloom(10)},
			[]workload.Pair{internalPairs[2], internalPairs[0], internalPairs[1]},
			table.Properties{Entries: 3, Deletions: 2, RawKeySize: 27, RawValueSize: 1, DataBlocks: 1, DataSize: 44, IndexSize: 22, FilterSize: 18 + 69, FilterEntries: 3,
				FilterPolicy: "rocksdb.BuiltinBloomFilter", Comparer: "test.Descending", Compression: "NoCompression",
				BlockSize: 4096, RestartInterval: 16, FilterBaseLg: 12},
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
		if diff := cmp.Diff(tt.want, *got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

// What other engines say is kept, and what is damaged is an error, of Properties
// alone.
func TestReadProperties(t *testing.T) {
	t.Parallel()
	many := []string{}
	for i := range 1001 {
		many = append(many, string([]byte{byte(i >> 8), byte(i)}), "")
	}
	for _, tt := range []struct {
		name, block string
		want        table.Properties
		err         string
	}{
		{"none that is known", rawtable.Entries("my.property", "\xff"), table.Properties{Other: map[string][]byte{"my.property": {0xff}}}, ""},
		{"some", rawtable.Entries("rocksdb.comparator", "x", "rocksdb.num.entries", "\x80\x01"), table.Properties{Entries: 128, Comparer: "x"}, ""},
		{"no block", "no block", table.Properties{}, "properties block at 54: restart count"},
		{"no varint", rawtable.Entries("rocksdb.num.entries", "\x80"), table.Properties{}, "properties block at 54: property rocksdb.num.entries is 80, want a minimal varint"},
		{"too much", rawtable.Entries("rocksdb.num.entries", "\x01\x01"), table.Properties{}, "is 0101, want a minimal varint"},
		{"too many", rawtable.Entries(many...), table.Properties{}, "more than 1000 properties"},
	} {
		p := sound()
		p.filter = tt.block
		p.meta = func(h string) string { return rawtable.Entries("rocksdb.properties", h) }
		r := open(t, p.build(), nil)
		got, err := r.Properties()
		if tt.err != "" {
			if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(textOf(err), tt.err) {
				t.Errorf("%s: Properties = %v, %v; want ErrCorrupt with %q", tt.name, got, err, tt.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		} else if diff := cmp.Diff(tt.want, *got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
	r := open(t, build(t, nil, nil), nil)
	if got, err := r.Properties(); !errors.Is(err, table.ErrNotFound) {
		t.Errorf("of a table without: %v, %v; want ErrNotFound", got, err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Properties(); !errors.Is(err, table.ErrClosed) {
		t.Errorf("of a closed Reader: %v, want ErrClosed", err)
	}
}
