package table_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// farSeparators separates internal keys by the greatest possible key, right before the next block's first key. So a
// version can be in the block after the one that the index returns.
type farSeparators struct{ table.Comparer }

func (c farSeparators) Separator(dst, a, b []byte) []byte {
	k, _ := internalkey.Parse(b)
	k.Sequence++
	s := k.Append(dst)
	if c.Compare(a, s) > 0 {
		return nil
	}
	return s
}

// versions returns entries of some user keys with some versions each, in order.
func versions(rng *rand.Rand, c table.Comparer, users int) []workload.Pair {
	var pairs []workload.Pair
	for user := range users {
		for range rng.IntN(5) {
			k := internalKey(fmt.Sprintf("user%03d", 2*user), 2*uint64(rng.IntN(50)), internalkey.Kind(rng.IntN(2)))
			pairs = append(pairs, workload.Pair{Key: k, Value: fmt.Append(nil, rng.Uint32())})
		}
	}
	slices.SortFunc(pairs, func(a, b workload.Pair) int { return c.Compare(a.Key, b.Key) })
	return slices.CompactFunc(pairs, func(a, b workload.Pair) bool { return bytes.Equal(a.Key, b.Key) })
}

// firstAlike returns the expected result of Find, by looking at all pairs.
func firstAlike(pairs []workload.Pair, key []byte, c table.Comparer, part func([]byte) []byte) *workload.Pair {
	i, _ := slices.BinarySearchFunc(pairs, key, func(p workload.Pair, key []byte) int { return cmp.Compare(c.Compare(p.Key, key), 0) })
	if i == len(pairs) || !bytes.Equal(part(pairs[i].Key), part(key)) {
		return nil
	}
	return &pairs[i]
}

func checkFind(t *testing.T, name string, r *table.Reader, key []byte, want *workload.Pair) {
	t.Helper()
	k, v, err := r.Find(key)
	if want != nil && !mayContain(r, key) {
		t.Fatalf("%s: MayContain(%q) = false, but Find finds %q", name, key, k)
	}
	switch {
	case want == nil && (!errors.Is(err, table.ErrNotFound) || k != nil || v != nil):
		t.Fatalf("%s: Find(%q) = %q, %q, %v; want ErrNotFound", name, key, k, v, err)
	case want != nil && (err != nil || !bytes.Equal(k, want.Key) || !bytes.Equal(v, want.Value)):
		t.Fatalf("%s: Find(%q) = %q, %q, %v; want %q, %q", name, key, k, v, err, want.Key, want.Value)
	case cap(k) != len(k) || cap(v) != len(v):
		t.Fatalf("%s: Find(%q): capacity behind key or value", name, key)
	}
	checkAppendFind(t, name, r.With(context.Background()), key, k, v, err)
	checkAppendFind(t, name, r.With(context.Background()).DontFillCache(true), key, k, v, err)
}

// checkAppendFind compares AppendFind with Find's result. The key to look up is behind the slice to which it
// appends.
func checkAppendFind(t *testing.T, name string, r *table.Reader, key, k, v []byte, err error) {
	t.Helper()
	buf := append(make([]byte, 0, 100), "key: "...)
	behind := append(buf, key...)[len(buf):]
	for _, dst := range [][]byte{nil, buf} {
		gotKey, gotValue, gotErr := r.AppendFind(dst, bytes.Clone(dst), behind)
		got := fmt.Sprintf("%q, %q, %v", gotKey, gotValue, gotErr)
		if want := fmt.Sprintf("%q, %q, %v", string(dst)+string(k), string(dst)+string(v), err); got != want {
			t.Fatalf("%s: AppendFind(%.100q) to %q = %.300s; want %.300s", name, key, dst, got, want)
		}
		if dst == nil && cap(gotKey) > len(gotKey) {
			t.Fatalf("%s: AppendFind(%.100q): capacity behind the key", name, key)
		}
	}
}

// Find returns each snapshot's version of each key, including deletions, wherever blocks end, with and without
// filter and Cache.
func TestFindVersions(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(12, 12))
	for _, c := range []table.Comparer{
		table.InternalComparer(table.BytewiseComparer),
		table.InternalComparer(descendingComparer{}),
		farSeparators{table.InternalComparer(table.BytewiseComparer)},
	} {
		for _, blockSize := range []int{1, 60, 300, 4096} {
			pairs := versions(rng, c, 100)
			contents := build(t, &table.WriterOptions{Comparer: c, BlockSize: blockSize,
				FilterPolicy: filter.NewBloom(3), FilterKey: internalkey.UserKey, FilterBaseLg: 5}, pairs)
			for _, o := range []table.ReaderOptions{{}, {IgnoreFilter: true}, {Cache: table.NewCache(1 << 20)}, {Cache: table.NewCache(2000)}} {
				o.Comparer, o.FilterKey = c, internalkey.UserKey
				r := open(t, contents, &o)
				name := fmt.Sprintf("%s, blocks of %d, cache %v, no filter %v", c.Name(), blockSize, o.Cache, o.IgnoreFilter)
				for user := range 201 {
					for sequence := uint64(0); sequence <= 100; sequence += 1 + rng.Uint64N(uint64(long.Size(36, 9))) {
						key := internalkey.SearchKey(nil, fmt.Appendf(nil, "user%03d", user), sequence)
						checkFind(t, name, r, key, firstAlike(pairs, key, c, internalkey.UserKey))
					}
				}
				checkSound(t, name, r)
				noError(t, r.Close())
			}
		}
	}
}

// With a FilterKey that returns a prefix, Find finds the first key with a prefix.
func TestFindPrefix(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a", "aa", "abcd", "abcd1", "abcd2", "abce9", "ac", "acxx", "acxxyy", "b", "c\xff\xff\xff1")
	for _, blockSize := range []int{1, 30, 4096} {
		o := &table.WriterOptions{BlockSize: blockSize, FilterPolicy: filter.NewBloom(10), FilterKey: firstFour}
		r := open(t, build(t, o, pairs), &table.ReaderOptions{FilterKey: firstFour})
		for _, key := range []string{
			"", "a", "ab", "abc", "abcd", "abcd15", "abcd3", "abce", "abcf", "ac", "acx", "acxx", "acxxz", "b", "c",
			"c\xff\xff\xff", "c\xff\xff\xff2", "d",
		} {
			want := firstAlike(pairs, []byte(key), table.BytewiseComparer, firstFour)
			checkFind(t, fmt.Sprintf("blocks of %d", blockSize), r, []byte(key), want)
		}
	}
}

// FilterKey gets only keys of the table and keys to look up, and no separators, which can be shorter than any key
// and have another filter key.
func TestFilterKeyGetsOnlyKeys(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(23, 23))
	for range 100 {
		stored, wanted := longKeys(rng, 40), longKeys(rng, 100)
		pairs := pairsOf(stored...)
		prefix := func(key []byte) []byte {
			if !slices.Contains(stored, string(key)) && !slices.Contains(wanted, string(key)) {
				t.Errorf("FilterKey got %q, which is no key", key)
			}
			return key[:4]
		}
		contents := build(t, &table.WriterOptions{BlockSize: 1, FilterPolicy: filter.NewBloom(10), FilterKey: prefix}, pairs)
		r := open(t, contents, &table.ReaderOptions{FilterKey: prefix})
		for _, key := range wanted {
			checkFind(t, "prefix of 4", r, []byte(key), firstAlike(pairs, []byte(key), table.BytewiseComparer, prefix))
		}
		noError(t, r.Verify())
	}
}

// longKeys returns keys of 8 bytes, in order, few of whose prefixes differ.
func longKeys(rng *rand.Rand, n int) []string {
	keys := make([]string, n)
	for i := range keys {
		keys[i] = fmt.Sprintf("%c%c%c%c%04d", 'a'+rng.IntN(2), 'a'+rng.IntN(2), 'x', 'a'+rng.IntN(3), rng.IntN(10000))
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// Find reads nothing for keys that the filter rules out.
func TestFindReadsNothingThatTheFilterRulesOut(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(table.BytewiseComparer)
	pairs := versions(rand.New(rand.NewPCG(13, 13)), c, 400)
	contents := build(t, &table.WriterOptions{Comparer: c, BlockSize: 500, FilterPolicy: filter.NewBloom(20), FilterKey: internalkey.UserKey}, pairs)
	var m table.Metrics
	r := open(t, contents, &table.ReaderOptions{Comparer: c, FilterKey: internalkey.UserKey, Metrics: &m})
	for user := range 400 {
		key := internalkey.SearchKey(nil, fmt.Appendf(nil, "user%03d", 2*user+1), internalkey.MaxSequence)
		checkFind(t, "absent", r, key, nil)
	}
	const calls = 5 * 400 // of Find and AppendFind
	reads, wrong := m.BlocksRead.Load(), m.FilterFalsePositives.Load()
	if reads > calls/100 || reads != wrong || m.Lookups.Load() != calls {
		t.Errorf("%d blocks read for %d absent keys, want ≤ 1 %%; %d false positives, want as many", reads, calls, wrong)
	}
}

// foldComparer ignores case.
type foldComparer struct{ descendingComparer }

func (foldComparer) Compare(a, b []byte) int {
	return bytes.Compare(bytes.ToLower(a), bytes.ToLower(b))
}

// Without FilterKey, Find agrees with Get, in any order.
func TestFindInAnotherOrder(t *testing.T) {
	t.Parallel()
	c := foldComparer{}
	r := open(t, build(t, &table.WriterOptions{Comparer: c}, pairsOf("abc", "abd")), &table.ReaderOptions{Comparer: c})
	checkFind(t, "another case", r, []byte("ABC"), &pairsOf("abc")[0])
	checkFind(t, "none", r, []byte("AB"), nil)
}

// FindGE agrees with Iter.SeekGE, for the table's keys and keys around them, with and without a Cache. Values remain
// unchanged.
func TestFindGE(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"mixed", "long-prefix", "byte-edges", "empty-key"} {
		pairs := dataset(t, name)
		for _, o := range []table.ReaderOptions{{}, {Cache: table.NewCache(1 << 20)}} {
			r := open(t, build(t, &table.WriterOptions{BlockSize: 500}, pairs), &o)
			it := r.NewIter(nil)
			for i := range min(len(pairs), 500) {
				for _, key := range append(around(pairs[i].Key), pairs[i].Key, nil) {
					k, v, err := r.With(context.Background()).DontFillCache(i%2 == 0).FindGE(key)
					want := map[bool]error{false: table.ErrNotFound}[it.SeekGE(key)]
					if err != want || !bytes.Equal(k, it.Key()) || !bytes.Equal(v, it.Value()) || cap(k) > len(k) || cap(v) > len(v) {
						t.Fatalf("FindGE(%.100q) = %.100q, %.100q, %v; want %.100q, %v, without capacity behind it", key, k, v, err, it.Key(), want)
					}
				}
			}
			noError(t, it.Close())
		}
	}
}

// A key between a block's last key and its separator is looked up in the next block too. FindGE checks no filter.
func TestFindGEReadsTwoBlocks(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	o := &table.WriterOptions{BlockSize: 1, FilterPolicy: withBloom.FilterPolicy}
	r := open(t, build(t, o, pairsOf("a", "x")), &table.ReaderOptions{Metrics: &m})
	k, _, err := r.FindGE([]byte("a0"))
	if err != nil || string(k) != "x" || m.BlocksRead.Load() > 2 || m.FilterChecks.Load() > 0 {
		t.Errorf("FindGE = %q, %v, after %v", k, err, &m)
	}
}
