package filter_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
)

// changeAtRandom adds and removes keys, and counts them. No count exceeds most.
func changeAtRandom(
	t *testing.T, rng *rand.Rand, f *filter.CountingBloom, counts map[string]int, keys [][]byte, most int,
) {
	t.Helper()
	for range 4 * len(keys) {
		switch key := keys[rng.IntN(len(keys))]; {
		case counts[string(key)] > 0 && rng.IntN(2) == 0:
			if !f.Remove(key) {
				t.Fatalf("Remove(%x) = false, but it was added", key)
			}
			counts[string(key)]--
		case counts[string(key)] < most:
			f.Add(key)
			counts[string(key)]++
		}
	}
}

func checkCountsContain(t *testing.T, f *filter.CountingBloom, counts map[string]int) {
	t.Helper()
	for key, count := range counts {
		if count > 0 && !f.Contains([]byte(key)) {
			t.Fatalf("%x is denied, and is there %d times", key, count)
		}
	}
}

// A filter contains the keys added more often than removed. A union adds the counts of both filters, and keys can be
// removed from it. A stored filter keeps its counts.
func TestCountingBloomUnionAddsCounts(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(74, 1))
	for range 100 {
		n, bits := 1+rng.IntN(100), 3+rng.IntN(40)
		keys := filtertest.Keys(rng, n)
		f, counts := newCountingBloom(t, uint64(n), bits), map[string]int{}
		other, otherCounts := newCountingBloom(t, uint64(n), bits), map[string]int{}
		changeAtRandom(t, rng, f, counts, keys[:1+n/2], 1)
		changeAtRandom(t, rng, other, otherCounts, keys[n/4:], 1)
		was := other.Counts()
		noError(t, f.Union(other))
		if diff := cmp.Diff(was, other.Counts()); diff != "" {
			t.Fatalf("Union changed the other filter (-before +after):\n%s", diff)
		}
		for key, count := range otherCounts {
			counts[key] += count
		}
		checkCounting(t, f, counts, newDynamicBloom(t, uint64(n), bits))
		f = resumedCounting(t, f)
		changeAtRandom(t, rng, f, counts, keys, 2)
		checkCounting(t, f, counts, newDynamicBloom(t, uint64(n), bits))
		for key, count := range counts {
			for range count {
				f.Remove([]byte(key))
			}
		}
		checkCounting(t, f, nil, newDynamicBloom(t, uint64(n), bits))
	}
}

// resumedCounting returns f after it was stored and opened.
func resumedCounting(t *testing.T, f *filter.CountingBloom) *filter.CountingBloom {
	t.Helper()
	counts := f.Counts()
	resumed, err := filter.OpenCountingBloom(counts)
	noError(t, err)
	stored := bytes.Clone(counts)
	clear(counts) // it has a copy
	if diff := cmp.Diff(stored, resumed.Counts()); diff != "" {
		t.Fatalf("the resumed filter has other counts (-stored +resumed):\n%s", diff)
	}
	return resumed
}

// Filters whose counts overflow, and their unions, including a filter's union with itself, rule out no added key.
func TestCountingBloomUnionOverflowsTowardsMayContain(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(74, 2))
	for round := range 100 {
		n := 1 + rng.IntN(60)
		keys := filtertest.Keys(rng, n)
		f, counts := newCountingBloom(t, uint64(n/10), 8), map[string]int{}
		other, otherCounts := newCountingBloom(t, uint64(n/10), 8), map[string]int{}
		changeAtRandom(t, rng, f, counts, keys, 1+rng.IntN(16))
		if changeAtRandom(t, rng, other, otherCounts, keys, 1+rng.IntN(16)); round%4 == 0 {
			other, otherCounts = f, maps.Clone(counts)
		}
		noError(t, f.Union(other))
		for key, count := range otherCounts {
			counts[key] += count
		}
		f = resumedCounting(t, f)
		checkCountsContain(t, f, counts)
		changeAtRandom(t, rng, f, counts, keys, 20)
		checkCountsContain(t, f, counts)
	}
}

// Counters that reach 15 stay there, even in a union.
func TestCountingBloomUnionSticksAt15(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		times, more int
		stays       bool
	}{
		{7, 7, false}, {14, 0, false}, {8, 7, true}, {1, 14, true}, {15, 0, true}, {16, 0, true}, {100, 0, true},
		{0, 15, true}, {15, 15, true}, {9, 14, true},
	} {
		t.Run(fmt.Sprint(tt.times, "+", tt.more), func(t *testing.T) {
			f, other := newCountingBloom(t, 1000, 10), newCountingBloom(t, 1000, 10)
			for range tt.times {
				f.Add([]byte("Lima"))
			}
			for range tt.more {
				other.Add([]byte("Lima"))
			}
			noError(t, f.Union(other))
			for range tt.times + tt.more {
				f.Remove([]byte("Lima"))
			}
			if got := f.Contains([]byte("Lima")); got != tt.stays {
				t.Errorf("Contains after as many removes = %v, want %v", got, tt.stays)
			}
		})
	}
}

func TestCountingBloomUnionErrors(t *testing.T) {
	t.Parallel()
	f := newCountingBloom(t, 100, 10)
	f.Add([]byte("a"))
	was := f.Counts()
	for _, tt := range []struct {
		keys uint64
		bits int
		want string
	}{
		{101, 10, "filter: union of filters of 126 and 128 bytes, with k = 6 and 6: sizes and k must be equal"},
		{125, 8, "filter: union of filters of 126 and 126 bytes, with k = 6 and 5: sizes and k must be equal"},
	} {
		other := newCountingBloom(t, tt.keys, tt.bits)
		other.Add([]byte("b"))
		if err := f.Union(other); fmt.Sprint(err) != tt.want {
			t.Errorf("%v, want %s", err, tt.want)
		}
	}
	if diff := cmp.Diff(was, f.Counts()); diff != "" {
		t.Errorf("a union that failed changed the filter (-before +after):\n%s", diff)
	}
}

// storedCounts returns counts with a valid checksum.
func storedCounts(magic string, version, k uint32, counters []byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(magic), version)
	b = append(binary.LittleEndian.AppendUint32(b, k), counters...)
	return binary.LittleEndian.AppendUint32(b, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
}

// The stored form is as documented.
func TestCountsAreAsDescribed(t *testing.T) {
	t.Parallel()
	f := newCountingBloom(t, 1, 10)
	for range 3 {
		f.Add([]byte("Lima"))
	}
	f.Add([]byte("Rome"))
	counters := make([]byte, 32)
	for key, count := range map[string]byte{"Lima": 3, "Rome": 1} {
		p := newDynamicBloom(t, 1, 10)
		p.Add([]byte(key))
		for i, bits := range p.Bytes()[:8] {
			for bit := range 8 {
				counters[4*i+bit/2] += bits >> bit & 1 * count << (bit % 2 * 4)
			}
		}
	}
	if diff := cmp.Diff(storedCounts("SieveCnt", 1, 6, counters), f.Counts()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// Every changed byte and every truncation is an error.
func TestOpenCountingBloomRefusesDamage(t *testing.T) {
	t.Parallel()
	f := newCountingBloom(t, 20, 10)
	for _, key := range filtertest.Keys(rand.New(rand.NewPCG(74, 3)), 20) {
		f.Add(key)
	}
	counts := f.Counts()
	for i := range counts {
		damaged := bytes.Clone(counts)
		damaged[i] ^= 1
		for what, contents := range map[string][]byte{"changed": damaged, "the end": counts[:i], "inserted": append(append(bytes.Clone(counts[:i]), 1), counts[i:]...)} {
			if g, err := filter.OpenCountingBloom(contents); err == nil || g != nil {
				t.Errorf("byte %d %s: no error", i, what)
			}
		}
	}
}

func TestErrorsOfCounts(t *testing.T) {
	t.Parallel()
	zeros := make([]byte, 64)
	open := func(contents []byte) error { return errorOf(filter.OpenCountingBloom(contents)) }
	stored := func(version, k uint32, counters []byte) error {
		return open(storedCounts("SieveCnt", version, k, counters))
	}
	const begin = `counts of a Bloom filter begin with "SieveCnt", not with `
	checkFailures(t, []failure{
		{begin + `""`, open(nil)},
		{begin + `"\x00\x00\x00\x00\x00\x00\x00\x00"`, open(newCountingBloom(t, 10, 10).Bytes())},
		{"counts of a Bloom filter cannot take 8 bytes", open([]byte("SieveCnt"))},
		{"counts of a Bloom filter cannot take 20 bytes", stored(1, 6, nil)},
		{"counts of a Bloom filter cannot take 48 bytes", stored(1, 6, zeros[:28])},
		{"counts of a Bloom filter cannot take 54 bytes", stored(1, 6, zeros[:34])}, // half a byte of bits
		{"counts of a Bloom filter of version 2: this package reads version 1", stored(2, 6, zeros)},
		{"counts of a Bloom filter with k = 0: must be 1 to 30", stored(1, 0, zeros)},
		{"counts of a Bloom filter with k = 31: must be 1 to 30", stored(1, 31, zeros)},
	})
}

// FuzzOpenCountingBloom opens arbitrary counts with a valid checksum. They are refused, or they are written as the
// same bytes, and keys can be added and removed.
func FuzzOpenCountingBloom(f *testing.F) {
	f.Add(storedCounts("SieveCnt", 1, 6, make([]byte, 32)), []byte("key"))
	f.Add(storedCounts("SieveCnt", 1, 30, bytes.Repeat([]byte{0xe1}, 36)), []byte(""))
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		if contents = bytes.Clone(contents); len(contents) >= 4 {
			end := len(contents) - 4
			binary.LittleEndian.PutUint32(contents[end:], crc32.Checksum(contents[:end], crc32.MakeTable(crc32.Castagnoli)))
		}
		c, err := filter.OpenCountingBloom(contents)
		if err != nil {
			return
		}
		if !bytes.Equal(c.Counts(), contents) {
			t.Errorf("%x became %x", contents, c.Counts())
		}
		if got, want := c.Contains(key), filter.NewBloom(0).Contains(c.Bytes(), key); got != want {
			t.Errorf("Contains = %v, that of its Bytes %v", got, want)
		}
		c.Add(key)
		if err := c.Union(c); err != nil || !c.Contains(key) || !c.Remove(key) || !c.Contains(key) {
			t.Errorf("a key that was added twice and removed once is denied: %v", err)
		}
	})
}
