package table_test

import (
	"os"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// The names in the metaindex say whether filters can be of two hashes.
func TestHashByName(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name   string
		policy filter.Policy
		either bool
	}{
		{"both names", filter.NewBloom(10), false},
		{"goleveldb's name, which LevelDB < 1.18 has too", filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter"), true},
		{"LevelDB's name since 1.18", filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter2"), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := open(t, build(t, &table.WriterOptions{FilterPolicy: tt.policy}, numbered(10)), nil)
			if got := r.Filters().Blocks.EitherHash(); got != tt.either {
				t.Errorf("EitherHash = %t", got)
			}
		})
	}
}

// No key of LevelDB 1.17's table is denied, whichever policy of that name reads its filters.
func TestHashOfOlderTables(t *testing.T) {
	t.Parallel()
	contents, err := os.ReadFile(goldenDir + "/leveldb-1.17/byte-edges.ldb")
	if err != nil {
		t.Fatal(err)
	}
	pairs, err := workload.Dataset("byte-edges")
	if err != nil {
		t.Fatal(err)
	}
	for name, policies := range map[string][]filter.Policy{
		"none":         nil,
		"Bloom":        {filter.NewBloom(3)},
		"renamed":      {filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter")},
		"not this one": {filter.Rename(filter.NewBloom(10), "another"), nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := open(t, contents, &table.ReaderOptions{FilterPolicies: policies})
			for _, p := range pairs {
				if _, err := r.Get(p.Key); err != nil {
					t.Errorf("Get(%q): %v", p.Key, err)
				}
			}
			if err := r.Verify(); err != nil || r.Filters().Blocks == nil {
				t.Errorf("Verify = %v, with a filter: %t", err, r.Filters().Blocks != nil)
			}
		})
	}
}
