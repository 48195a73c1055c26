package report

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/page/pagetest"
)

// fusePolicy returns the policy of binary fuse filters with fingerprints of that many bits.
func fusePolicy(t testing.TB, bits int) fuse.Policy {
	t.Helper()
	p, err := fuse.New(bits)
	noError(t, err)
	return p
}

// keysOfAllLengths returns that many sorted keys of each length up to 300, and of longer ones that XXH3 treats
// differently.
func keysOfAllLengths(each int) (pairs []workload.Pair) {
	rng := rand.New(rand.NewPCG(5, 6))
	lengths := []int{511, 512, 513, 1000, 1023, 1024, 1025, 1088, 1089, 2047, 2048, 2049, 5000}
	for n := range 301 {
		lengths = append(lengths, n)
	}
	for _, n := range lengths {
		for range each {
			key := make([]byte, n)
			for i := range key {
				key[i] = byte(rng.Uint32())
			}
			pairs = append(pairs, workload.Pair{Key: key})
		}
	}
	slices.SortFunc(pairs, func(a, b workload.Pair) int { return slices.Compare(a.Key, b.Key) })
	return slices.CompactFunc(pairs, func(a, b workload.Pair) bool { return bytes.Equal(a.Key, b.Key) })
}

// probes are a fuse.Probes in JSON that JavaScript can write, and the result.
type probes struct {
	Hash       string
	Places     []uint32
	Want, Have uint16
	Contains   bool
}

// The page hashes keys of any length, and looks up their fingerprints, like the library.
func TestPageProbesFuse(t *testing.T) {
	t.Parallel()
	pairs := keysOfAllLengths(6)
	for _, bits := range []int{4, 8, 10, 12, 14, 16} {
		t.Run(fmt.Sprint(bits), func(t *testing.T) {
			t.Parallel()
			o := table.WriterOptions{TableFilterPolicy: fusePolicy(t, bits), FilterOnly: true}
			f := openTable(t, writeTable(t, "t.ldb", o, everySecond(pairs)))
			page := pagetest.Open(t, writePage(t, f, Options{}), 1000)
			var keys [][]byte
			var wanted []probes
			for _, p := range pairs {
				keys = append(keys, p.Key)
				filter := f.Filters().Table
				got, ok := fuse.Probe(filter, p.Key)
				if !ok {
					t.Fatal("the table has no binary fuse filter")
				}
				wanted = append(wanted, probes{fmt.Sprintf("%016x", got.Hash), got.Places[:], got.Want, got.Have, filter.Contains(p.Key)})
			}
			got := pagetest.Call[[]probes](page, `(keys) => keys.map((key) => {
				const { hash, probes, want, have, contains } = lookup(Uint8Array.from(atob(key), (c) => c.charCodeAt(0))).whole;
				return { Hash: hash.toString(16).padStart(16, "0"), Places: probes.map((p) => p.place), Want: want, Have: have, Contains: contains };
			})`, keys)
			for i, key := range keys {
				if diff := cmp.Diff(wanted[i], got[i]); diff != "" {
					t.Fatalf("key %q of %d bytes (-library +page):\n%s", key, len(key), diff)
				}
			}
		})
	}
}

func everySecond(pairs []workload.Pair) (half []workload.Pair) {
	for i := 0; i < len(pairs); i += 2 {
		half = append(half, pairs[i])
	}
	return half
}

// The page describes a binary fuse filter, and the steps of a lookup in it.
func TestPageShowsFuse(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: fusePolicy(t, 4), FilterPolicy: filter.NewBloom(1)}
	f := openTable(t, writeTable(t, "t.ldb", o, plainPairs(1000)))
	page := pagetest.Open(t, writePage(t, f, Options{Embed: 1 << 20}), 1000)
	absent, missed := mistaken(t, f)
	for _, tt := range []struct{ key, answer, way string }{
		{"key000500", "✓ Found “key000500” It has a value of 33 bytes", "Table filter ◆ may contain hash, XXH3 of 64 bits 0x"},
		{missed, "✗ Absent “" + missed + "” The table filter rules the key out. Nothing else is read.", "Table filter ✗ certainly absent"},
		{absent, "✗ Absent “" + absent + "” The data block does not contain the key. Both filters gave false positives.", "Table filter ◆ may contain"},
	} {
		page.Submit("#key", tt.key)
		checkStarts(t, page, "#answer", tt.answer)
		p, _ := fuse.Probe(f.Filters().Table, []byte(tt.key))
		facts := fmt.Sprintf("fingerprint of the key 0x%x XOR of the three places 0x%x", p.Want, p.Have)
		table := fmt.Sprintf("XOR %04b key %04b", p.Have, p.Want)
		for _, part := range []string{tt.way, facts, table} {
			checkContains(t, page, "#way", part)
		}
	}
	const want = "Table filter policy binaryfuse kind binary fuse filter fingerprints 1,408 of 4 bits segments 11 of 128 fingerprints keys 1,000 bits per key 5.74 predicted false positives 6.25 % = 2−4"
	checkContains(t, page, "#filters", want)
}

// mistaken returns two absent keys: one that passes all filters, and one that the table filter rules out.
func mistaken(t *testing.T, f *dbfile.File) (passes, excluded string) {
	t.Helper()
	for i := 0; passes == "" || excluded == ""; i++ {
		key := fmt.Sprintf("key000500x%d", i)
		p, err := f.Explain([]byte(key))
		switch {
		case err != nil:
			t.Fatal(err)
		case p.FalsePositive:
			passes = key
		case p.TableFilter == dbfile.Absent:
			excluded = key
		}
	}
	return passes, excluded
}
