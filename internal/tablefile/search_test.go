package tablefile

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// indexOf returns an index with these separators, for blocks of 1 byte and with a restart point every interval
// entries.
func indexOf(t testing.TB, separators [][]byte, order rowblock.Order, interval int) *Index {
	t.Helper()
	w, err := block.NewWriter(interval, block.Order(order))
	errtest.NoError(t, err)
	var h Handle
	for _, s := range separators {
		h.Length = 1
		errtest.NoError(t, w.Append(s, h.Append(nil)))
		h.Offset = h.End()
	}
	f := &File{o: &Options{Order: order}, FooterOffset: h.Offset + 100<<20}
	f.Footer = Footer{Metaindex: Handle{h.Offset, 1}, Index: Handle{h.Offset + 6, 1}}
	x, err := f.newIndex(w.Finish(), new(Scratch))
	errtest.NoError(t, err)
	f.Index = x
	return x
}

// The tree and Index.binarySearch agree with a binary search over whole separators, for keys of all shapes: with
// prefixes shared by all or some, prefixes of each other, zeros that look like the padding of short keys, and 0xff
// that looks like the padding of nodes.
func TestSearchTree(t *testing.T) {
	long.NoRace(t)
	rng := rand.New(rand.NewPCG(7, 7))
	random := func(alphabet string, most int) []byte {
		key := make([]byte, rng.IntN(most+1))
		for i := range key {
			key[i] = alphabet[rng.IntN(len(alphabet))]
		}
		return key
	}
	for _, tt := range []struct {
		name, alphabet string
		most           int
		prefix         string
	}{
		{"digits", "0123456789", 12, "user"},
		{"edges", "\x00\x7f\x80\xff", 12, ""},
		{"zeros", "\x00\x01", 20, ""},
		{"ones", "\xfe\xff", 20, ""},
		{"long common prefix", "ab", 60, "http://www.example.com/"},
		{"short", "abc", 3, "\xff\xff\xff\xff\xff\xff\xff\xff"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, n := range []int{0, 1, 2, 31, 32, 33, 1000, 1024, 1025, 40_000} {
				var all [][]byte
				for range n {
					all = append(all, append([]byte(tt.prefix), random(tt.alphabet, tt.most)...))
				}
				slices.SortFunc(all, bytes.Compare)
				all = slices.CompactFunc(all, bytes.Equal)
				x := indexOf(t, all, rowblock.Order{}, 1+rng.IntN(3))
				tree := x.build()
				for i := range 2000 {
					key := append([]byte(tt.prefix), random(tt.alphabet, tt.most)...)
					switch {
					case i%3 == 1 && len(all) > 0:
						key = all[rng.IntN(len(all))]
					case i%3 == 2:
						key = random("\x00ahtu\xff", 20)
					}
					checkSearch(t, x, tree, all, key, bytes.Compare)
				}
			}
		})
	}
}

// checkSearch searches for key with the tree and without it.
func checkSearch(t *testing.T, x *Index, tree *searchTree, all [][]byte, key []byte, compare func(a, b []byte) int) {
	want := sort.Search(len(all), func(i int) bool { return compare(all[i], key) >= 0 })
	for _, built := range []*searchTree{nil, tree} {
		x.tree.Store(built)
		if got, err := x.Search(key); err != nil || got != want {
			t.Helper()
			t.Fatalf("%d separators, built %t: search(%q) = %d, %v; want %d", len(all), built != nil, key, got, err, want)
		}
	}
}

// BenchmarkIndexSearch searches the index of a table with a million entries.
func BenchmarkIndexSearch(b *testing.B) {
	rng := rand.New(rand.NewPCG(8, 8))
	key := func() []byte { return fmt.Appendf(nil, "user%012d", rng.Int64N(1e12)) }
	var all [][]byte
	for range 28_000 {
		all = append(all, key())
	}
	slices.SortFunc(all, bytes.Compare)
	x := indexOf(b, all, rowblock.Order{}, 1)
	tree := x.build()
	keys := make([]byte, 0, 16<<16)
	for range 1 << 16 {
		keys = append(keys, key()...)
	}
	for _, search := range []struct {
		name string
		tree *searchTree
	}{
		{"tree", tree},
		{"halving", nil},
	} {
		b.Run("by="+search.name, func(b *testing.B) {
			i := 0
			x.tree.Store(search.tree)
			x.sampled.Store(1 << 31) // builds no tree
			for b.Loop() {
				if _, err := x.Search(keys[i : i+16]); err != nil {
					b.Fatal(err)
				}
				i = (i + 16) % len(keys)
			}
		})
	}
}

// compareInternal is the order of internal keys: by user key, then newest version first. Keys too short to be
// internal come first.
func compareInternal(a, b []byte) int {
	const trailer = format.InternalTrailerLen
	if len(a) < trailer || len(b) < trailer {
		return cmp.Or(cmp.Compare(min(len(a)/trailer, 1), min(len(b)/trailer, 1)), bytes.Compare(a, b))
	}
	userA, userB := a[:len(a)-trailer], b[:len(b)-trailer]
	return cmp.Or(bytes.Compare(userA, userB),
		cmp.Compare(binary.LittleEndian.Uint64(b[len(userB):]), binary.LittleEndian.Uint64(a[len(userA):])))
}

// The same for internal keys. The user keys are in the bytewise order. Versions of one user key, and keys too short
// to be internal, are compared as whole keys.
func TestSearchTreeOfInternalKeys(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(19, 19))
	random := func() []byte {
		user := make([]byte, rng.IntN(6))
		for i := range user {
			user[i] = "ab\x00\xff"[rng.IntN(4)]
		}
		if rng.IntN(50) == 0 {
			return user // too short
		}
		user = append([]byte("http://www.")[:rng.IntN(2)*11], user...)
		return binary.LittleEndian.AppendUint64(user, rng.Uint64N(4)<<48|rng.Uint64N(2))
	}
	for _, n := range []int{1, 2, 31, 32, 33, 1000, 1025, 40_000} {
		var all [][]byte
		for range n {
			all = append(all, random())
		}
		slices.SortFunc(all, compareInternal)
		all = slices.CompactFunc(all, bytes.Equal)
		x := indexOf(t, all, rowblock.Order{Func: compareInternal, Suffix: format.InternalTrailerLen}, 1+rng.IntN(2))
		tree := x.build()
		for range 5000 {
			checkSearch(t, x, tree, all, random(), compareInternal)
		}
	}
}
