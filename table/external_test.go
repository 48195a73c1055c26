package table_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// partsFiltered is the bytewise order, with filters of the first byte of each key.
type partsFiltered struct{ table.Comparer }

func (partsFiltered) FilterKey(key []byte) []byte { return key[:min(1, len(key))] }

// Tables that RocksDB takes over say so. Those that it would give other answers of do not.
func TestExternalFile(t *testing.T) {
	t.Parallel()
	filtered := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	with := func(o table.WriterOptions, change func(o *table.WriterOptions)) table.WriterOptions {
		change(&o)
		return o
	}
	set := func(user string) []byte { return internalKey(user, 0, table.KindSet) }
	deleted := func(user string) []byte { return internalKey(user, 0, table.KindDelete) }
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
		"InternalFilterKey":          {with(filtered, func(o *table.WriterOptions) { o.FilterKey = table.InternalFilterKey }), sound, true},
		"a FilterKey of parts":       {with(filtered, func(o *table.WriterOptions) { o.FilterKey = partsFiltered{}.FilterKey }), sound, false},
		"a FilterKey of nothing":     {with(filtered, func(o *table.WriterOptions) { o.FilterKey = func([]byte) []byte { return nil } }), [][]byte{set("")}, false},
		"a FilterKeyer of parts": {with(filtered, func(o *table.WriterOptions) {
			o.Comparer = table.InternalComparer(partsFiltered{table.BytewiseComparer})
		}), sound, false},
		"parts in LevelDB's filter only": {table.WriterOptions{FilterPolicy: filter.NewBloom(10), FilterKey: partsFiltered{}.FilterKey}, sound, true},
		"a sequence number at the start": {filtered, [][]byte{internalKey("a", 1, table.KindSet), set("b"), set("c")}, false},
		"a sequence number between":      {filtered, [][]byte{set("a"), internalKey("b", 1, table.KindDelete), set("c")}, false},
		"a sequence number at the end":   {filtered, [][]byte{set("a"), set("b"), internalKey("c", table.MaxSequence, table.KindSet)}, false},
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
			if err != nil {
				t.Fatal(err)
			}
			want := map[string][]byte{"rocksdb.block.based.table.index.type": {0, 0, 0, 0}}
			if tt.want {
				want["rocksdb.external_sst_file.version"] = []byte{2, 0, 0, 0}
				want["rocksdb.external_sst_file.global_seqno"] = make([]byte, 8)
			}
			if diff := cmp.Diff(want, p.Other); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			o.Concurrency = 3
			if again := build(t, &o, pairs); !bytes.Equal(again, contents) {
				t.Error("other bytes with three goroutines")
			}
		})
	}
}
