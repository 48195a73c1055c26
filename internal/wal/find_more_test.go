package wal

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
)

// recordsFound returns the records with FindMore, and the number of bytes reported as damage.
func recordsFound(t testing.TB, log []byte) (records [][]byte, skipped int64) {
	t.Helper()
	r, err := NewLogReader(bytes.NewReader(log), int64(len(log)), func(d Damage) { skipped += d.Bytes })
	noError(t, err)
	r.FindMore()
	records = readAll(t, r)
	return records, skipped
}

// smallRecords returns records that are smaller than a block, and their log.
func smallRecords(t *testing.T, random *rand.Rand) (all [][]byte, log []byte, ends []int) {
	t.Helper()
	for range 60 {
		record := make([]byte, 1+random.IntN(3000))
		for i := range record {
			record[i] = byte(random.Uint32())
		}
		all = append(all, record)
		ends = append(ends, len(logOf(t, all...)))
	}
	return all, logOf(t, all...), ends
}

// Damage in one place loses only the record that contains it: flipped bytes in headers and records, and zeros over a
// part of either.
func TestFindMoreLosesOneRecord(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for seed := range uint64(long.Size(75, 300)) {
		random := rand.New(rand.NewPCG(seed, 1))
		all, log, ends := smallRecords(t, random)
		hit := random.IntN(len(all) - 1)
		start := 0
		if hit > 0 {
			start = ends[hit-1]
		}
		at := start + random.IntN(ends[hit]-start)
		if random.IntN(2) == 0 {
			at = min(start+random.IntN(FragmentHeaderLen), ends[hit]-1)
		}
		n := 1
		if random.IntN(2) == 0 {
			n = 1 + random.IntN(ends[hit]-at)
		}
		for i := range n {
			log[at+i] = byte(random.Uint32()) * byte(seed%2)
		}
		got, _ := recordsFound(t, log)
		want := slices.Delete(slices.Clone(all), hit, hit+1)
		if len(got) == len(all) {
			want = all // the bytes did not change
		}
		if !slices.EqualFunc(want, got, bytes.Equal) {
			t.Fatalf("seed %d: %d bytes at %d of record %d: found %d records, want %d", seed, n, at, hit, len(got), len(want))
		}
	}
}

// The records of a log that is stored in a record are not found in place of the record.
func TestFindMoreIsNotMisledByAStoredLog(t *testing.T) {
	t.Parallel()
	inner := logOf(t, []byte("inner one"), []byte("inner two"))
	all := [][]byte{[]byte("first"), slices.Concat([]byte("xx"), inner, bytes.Repeat([]byte("y"), 100)), []byte("last")}
	log := logOf(t, all...)
	start := len(logOf(t, all[0]))
	for _, at := range []int{start, start + 4, start + 5, start + 6, start + 7} {
		damaged := bytes.Clone(log)
		damaged[at] ^= 0x40
		if got, _ := recordsFound(t, damaged); !slices.EqualFunc([][]byte{all[0], all[2]}, got, bytes.Equal) {
			t.Errorf("damage at %d: %q", at, got)
		}
	}
}

// A batch that has more writes than its header says can seem to end before its damaged fragment.
func TestBatchThatEndsBeforeItsDamagedFragment(t *testing.T) {
	t.Parallel()
	long := batch(2, 1, aSet("own", "v")+aSet("own", strings.Repeat("v", 2*blockSize)))
	log := logOf(t, []byte(batch(1, 1, aSet("own", "v"))), []byte(long), []byte(batch(4, 1, aSet("own", "v"))))
	log[2*blockSize] ^= 1
	if own, _, l := foundWrites(t, log); !own[1] || !own[4] || !l.MayHaveLost(2) || !l.MayHaveLost(3) {
		t.Errorf("found %v, %v", own, l.Damage)
	}
}

// A hostile log, in which a fragment seems to begin at each byte, is read in bounded time.
func TestFindMoreIsBounded(t *testing.T) {
	t.Parallel()
	r := &Reader{findMore: true, rest: bytes.Repeat([]byte{kindFull, 0x3f}, blockSize/2), budget: maxSearched}
	if n := r.nextFragment(); n != len(r.rest) {
		t.Errorf("a fragment at %d", n)
	}
	if r.budget > 0 || r.budget < -blockSize {
		t.Errorf("%d bytes may still be checked, want none", r.budget)
	}
}

// Arbitrary bytes are read to their end, and at least the records that LevelDB's reader finds are found.
func FuzzFindMore(f *testing.F) {
	f.Add(logOf(f, []byte("a"), []byte("b")))
	f.Fuzz(func(t *testing.T, log []byte) {
		plain, _ := read(t, log)
		if found, skipped := recordsFound(t, log); len(found) < len(plain) || skipped > int64(len(log)) {
			t.Errorf("%d records, want ≥ %d; %d bytes of %d skipped", len(found), len(plain), skipped, len(log))
		}
	})
}
