package main

import (
	"bytes"
	"iter"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/manifest"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// FuzzReaders reads tables of arbitrary bytes with corrected checksums. If our Verify accepts a table, goleveldb
// must read the same entries from it without an error.
func FuzzReaders(f *testing.F) {
	for _, contents := range golden.Small(f, "../../testdata", 8<<10) {
		f.Add(contents, []byte("key"))
	}
	pairs := workload.Cut([]byte("aabbbcccddde"), 2)
	for _, s := range []manifest.Table{
		{BlockSize: 1, RestartInterval: 1, BitsPerKey: 10, Compression: "none"},
		{BlockSize: 20, RestartInterval: 2, BitsPerKey: 10, Compression: "none"},
		{BlockSize: 1000, RestartInterval: 3, BitsPerKey: manifest.NoFilter, Compression: "snappy"},
	} {
		f.Add(oursAs(f, goleveldbName, s, 2, pairs), []byte("b"))
	}
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		contents = bytes.Clone(contents) // a fuzz function must not change its input
		rawtable.Repair(contents)
		r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
		if err != nil || r.Verify() != nil {
			return
		}
		theirs := openGoleveldb(t, contents)
		pairs, err := collect(r.All(nil))
		noError(t, err)
		checkPairs(t, "goleveldb", pairs)(theirs.Scan())
		compareLookup(t, r, theirs, key)
		for _, p := range pairs {
			compareLookup(t, r, theirs, p.Key)
		}
	})
}

// collect returns the entries up to the first error.
func collect(entries iter.Seq2[table.Entry, error]) (pairs []workload.Pair, err error) {
	for e, err := range entries {
		if err != nil {
			return pairs, err
		}
		pairs = append(pairs, workload.Pair{Key: bytes.Clone(e.Key), Value: bytes.Clone(e.Value)})
	}
	return pairs, nil
}

// compareLookup looks up key in both readers. goleveldb may miss keys in tables that LevelDB wrote before 1.18:
// their filters have the same name, but hash the last bytes of a key as signed.
func compareLookup(t *testing.T, r *table.Reader, theirs *goleveldb.Reader, key []byte) {
	t.Helper()
	_, err := r.Get(key)
	found, theirErr := theirs.FindFiltered(key)
	if blocks := r.Filters().Blocks; !found && theirErr == nil && blocks != nil && blocks.EitherHash() && slices.Max(append([]byte{0}, key[len(key)&^3:]...)) >= 0x80 {
		return
	}
	if found != (err == nil) || theirErr != nil {
		t.Fatalf("%q: Get = %v, but goleveldb finds it: %v, %v", key, err, found, theirErr)
	}
}

// FuzzWriters cuts the input into pairs and writes them with arbitrary options. Our uncompressed table must equal
// goleveldb's byte for byte.
func FuzzWriters(f *testing.F) {
	f.Add([]byte("abcabcabdxyz"), uint8(3), uint16(16), uint8(2), uint8(10), uint8(11))
	f.Add(bytes.Repeat([]byte("\x00\xff"), 100), uint8(7), uint16(1), uint8(1), uint8(40), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, width uint8, blockSize uint16, restart, bits, baseLg uint8) {
		pairs := workload.Cut(data, 1+int(width%16))
		if len(pairs) == 0 {
			return // written differently: see TestEmptyTables
		}
		s := manifest.Table{
			BlockSize:       1 + int(blockSize),
			RestartInterval: 1 + int(restart),
			BitsPerKey:      int(bits) - 1,
			Compression:     "none",
		}
		checkAsGoleveldb(t, s, 1+int(baseLg%20), pairs)
	})
}
