package main

import (
	"fmt"
	"os"
	"testing"

	goleveldb "github.com/syndtr/goleveldb/leveldb"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	peer "github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/internal/workload"
)

// These tests check what GOLEVELDB.md says about goleveldb. If one fails, goleveldb has changed: update the page.

// C++ LevelDB's filters before 1.18 have the same name as goleveldb's, but another hash: goleveldb misses keys.
func TestProposalOneNameForTwoHashes(t *testing.T) {
	t.Parallel()
	contents, err := os.ReadFile("../../testdata/leveldb-1.17/byte-edges.ldb")
	noError(t, err)
	r := openGoleveldb(t, contents)
	it := r.NewIterator(nil, nil)
	defer it.Release()
	keys, missed := 0, 0
	for ; it.Next(); keys++ {
		if _, _, err := r.Find(it.Key(), true, nil); err == goleveldb.ErrNotFound {
			missed++
		}
	}
	if keys != 781 || missed != 140 {
		t.Errorf("goleveldb does not find %d of %d keys, GOLEVELDB.md says 140 of 781", missed, keys)
	}
}

// If a generator writes to a used buffer, the old bits stay set.
func TestProposalBitsOfAReusedBuffer(t *testing.T) {
	t.Parallel()
	policy, b := lfilter.NewBloomFilter(10), util.NewBuffer(nil)
	var passed []int
	for round := range 3 {
		g := policy.NewGenerator()
		for i := range 1000 {
			g.Add(fmt.Appendf(nil, "%d-%d", round, i))
		}
		b.Reset()
		g.Generate(b)
		n := 0
		for i := range 10_000 {
			if policy.Contains(b.Bytes(), fmt.Appendf(nil, "absent%d", i)) {
				n++
			}
		}
		passed = append(passed, n)
	}
	if fmt.Sprint(passed) != "[92 1175 3301]" {
		t.Errorf("%d of 10,000 absent keys pass, GOLEVELDB.md says 92, 1175 and 3301", passed)
	}
}

// A countingFilter counts how often it is checked.
type countingFilter struct {
	lfilter.Filter
	checks int
}

func (f *countingFilter) Contains(filter, key []byte) bool {
	f.checks++
	return f.Filter.Contains(filter, key)
}

// A table Reader checks its filter in Find, if filtered is true, but not in Get.
func TestProposalGetAsksNoFilter(t *testing.T) {
	t.Parallel()
	f := &countingFilter{Filter: lfilter.NewBloomFilter(10)}
	o := &opt.Options{Filter: f}
	contents, err := peer.Write(o, []workload.Pair{{Key: []byte("present")}})
	noError(t, err)
	r, err := peer.Open(contents, o)
	noError(t, err)
	defer r.Release()
	if _, err := r.Get([]byte("absent"), nil); err != goleveldb.ErrNotFound || f.checks != 0 {
		t.Errorf("Get: %v, the filter was checked %d times, GOLEVELDB.md says never", err, f.checks)
	}
	if _, _, err := r.Find([]byte("absent"), true, nil); err != goleveldb.ErrNotFound || f.checks != 1 {
		t.Errorf("Find: %v, the filter was checked %d times, want once", err, f.checks)
	}
}
