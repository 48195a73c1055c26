package fuse_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// BenchmarkGetAbsent looks up absent keys in a table of a million entries in memory, without a cache, with block
// filters, a table filter, and both. bits/key is the size of the filters.
func BenchmarkGetAbsent(b *testing.B) {
	set := workload.W1(long.Size(10_000, 1_000_000))
	workload.Pack(set.Absent)
	for _, tt := range []struct {
		name   string
		blocks filter.Policy
		table  filter.TablePolicy
	}{
		{"blocks", filter.NewBloom(10), nil},
		{"table", nil, filter.NewTableBloom(10)},
		{"both", filter.NewBloom(10), filter.NewTableBloom(10)},
		{"fuse:8", nil, newPolicy(b, 8)},
		{"fuse:12", nil, newPolicy(b, 12)},
		{"fuse:16", nil, newPolicy(b, 16)},
	} {
		var out bytes.Buffer
		o := &table.WriterOptions{FilterPolicy: tt.blocks, TableFilterPolicy: tt.table, Properties: true}
		writePairs(b, &out, o, len(set.Keys), func(i int) (key, value []byte) { return set.Keys[i], set.Values[i] })
		b.Run("of="+tt.name, func(b *testing.B) { getAbsent(b, out.Bytes(), set.Absent) })
	}
}

func getAbsent(b *testing.B, contents []byte, keys [][]byte) {
	r, m := readTable(b, contents, fuse.Policy{})
	p, err := r.Properties()
	noError(b, err)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := r.Get(keys[i%len(keys)]); !errors.Is(err, table.ErrNotFound) {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(m.BlocksRead.Load())/float64(m.Lookups.Load()), "blocks/lookup")
	b.ReportMetric(8*float64(p.FilterSize)/float64(p.Entries), "bits/key")
}
