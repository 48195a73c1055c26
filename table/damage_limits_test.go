package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// sharingIndex returns a table of n empty data blocks, whose separators are a prefix of that length and a number. In
// the index, they share the prefix.
func sharingIndex(t *testing.T, prefix, n int) []byte {
	t.Helper()
	var f rawtable.File
	w, err := block.NewWriter(1000, block.Order{})
	noError(t, err)
	for i := range n {
		noError(t, w.Append(fmt.Appendf(nil, "%0*d", prefix+4, i), []byte(f.Block(rawtable.Entries()))))
	}
	metaindex := f.Block(rawtable.Entries())
	return f.Footer(metaindex, f.Block(string(w.Finish())))
}

// Keys in an index may share bytes, although the known engines do not write such indexes. The index is then rebuilt in
// memory, and checked as a whole. If few bytes make very long separators, it is refused.
func TestIndexMayShareKeyBytesUpToABound(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, prefix := range []int{0, 20, 40, 1000} {
		contents := sharingIndex(t, prefix, 64)
		r := newReader(t, table.Bytes(contents), len(contents), nil)
		checkSound(t, fmt.Sprintf("a prefix of %d bytes", prefix), r)
		if got := r.MemorySize(); got < int64(64*prefix) {
			t.Errorf("a prefix of %d bytes: MemorySize = %d", prefix, got)
		}
	}
	second := func(number string) []byte { return []byte(rawtable.Entry(23, number, rawtable.Handle(13, 8))) }
	disorder := bytes.Replace(sharingIndex(t, 20, 64), second("1"), second("0"), 1)
	rawtable.Repair(disorder)
	for want, contents := range map[string][]byte{
		"separators that share bytes": sharingIndex(t, 100_000, 200), "not greater than the key before": disorder,
	} {
		checkError(t, want, errorOf(table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)), table.ErrCorrupt, want)
	}
}

// A compressed index can have far more entries than the file has data blocks.
func TestCompressedIndexOfManyEntries(t *testing.T) {
	var f rawtable.File
	f.Block(rawtable.Entries())
	metaindex := f.Block(rawtable.Entries())
	entries := strings.Repeat(rawtable.Entry(0, "", ""), 2<<20) + rawtable.Restarts(0)
	index := f.Stored(string(snappy.Encode(nil, []byte(entries))), 1)
	in := inspect(t, "no handles", f.Footer(metaindex, index), nil, nil)
	checkError(t, in.name, in.opened, table.ErrCorrupt, "separators that share bytes")
}

// longRun returns a block of one long key and n more keys that share it and end with a number: four bytes of the
// file can make a key of any length.
func longRun(key string, n int) string {
	var b strings.Builder
	b.WriteString(rawtable.Entry(0, key, ""))
	shared := len(key)
	for i := range n {
		number := string(binary.BigEndian.AppendUint32(nil, uint32(i)))
		b.WriteString(rawtable.Entry(uint64(shared), number, ""))
	}
	return b.String() + rawtable.Restarts(0)
}

// oneBlock returns a table of one data block, and a filter with a bit pattern.
func oneBlock(b stored) []byte {
	var f rawtable.File
	h := f.Stored(b.contents, b.id)
	filter := f.Block(filterBlock(strings.Repeat("\xff", 8)+"\x06", 30, 0))
	metaindex := f.Block(rawtable.Entries(bloomName, filter))
	return f.Footer(metaindex, f.Block(rawtable.Entries("\xff", h)))
}

// needsMemory marks a long test of one goroutine that takes a gigabyte of memory, or minutes with the race detector.
// It skips the test if that is too much.
func needsMemory(t *testing.T) {
	t.Helper()
	long.Test(t)
	if testing.Short() || long.Race {
		t.Skip("takes too much memory or time")
	}
}

// With keys that share bytes, few bytes can cost much memory and work. A block may have many entries between restart
// points, and long keys, but is refused if it would exceed the memory bound or take hours.
func TestWorkOnKeysThatShareIsBounded(t *testing.T) {
	needsMemory(t)
	compressed := func(contents string) stored { return stored{string(snappy.Encode(nil, []byte(contents))), 1} }
	inOrder := &table.ReaderOptions{Comparer: otherComparer{table.BytewiseComparer}}
	for _, tt := range []struct {
		name    string
		block   stored
		o       *table.ReaderOptions
		forward string // part of the error
		verify  string
	}{
		{"300,000 entries after one restart point, read backward too", raw(longRun("k", 300_000)), nil, "", ""},
		{"the same in another order", raw(longRun("k", 300_000)), inOrder, "", ""},
		{"keys of 1 MiB that share it: 200 GB to hash", raw(longRun(strings.Repeat("k", 1<<20), 200_000)), nil, "", "over 320 times as long"},
		{"the same in another order: 200 GB to compare", raw(longRun(strings.Repeat("k", 1<<20), 200_000)), inOrder, "comparing them is bounded", "comparing them is bounded"},
		{"two keys of 80 MiB in 4 MB", compressed(longRun(strings.Repeat("k", 80<<20), 1)), nil, "memory for such keys is bounded", "memory for such keys is bounded"},
		{"two keys of 60 MiB in 3 MB", compressed(longRun(strings.Repeat("k", 60<<20), 1)), nil, "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := inspect(t, tt.name, oneBlock(tt.block), tt.o, nil)
			for i, err := range []error{in.forward, in.backward, in.verified} {
				if want := [...]string{tt.forward, tt.forward, tt.verify}[i]; want == "" {
					noError(t, err)
				} else {
					checkError(t, [...]string{"forward", "backward", "Verify"}[i], err, nil, want)
				}
			}
		})
	}
}

// otherComparer is the same order, but does not look like it.
type otherComparer struct{ table.Comparer }

// The memory for keys that share bytes is bounded for all data blocks together that an Iter or Verify reads: two
// long keys exceed it, unless one reuses the memory of the other. The next Iter has the whole bound again.
func TestKeysOfAllBlocksShareOneBound(t *testing.T) {
	long.NoRace(t)
	if testing.Short() {
		t.Skip("takes 200 MB")
	}
	var f rawtable.File
	block := func(first string, length int) string {
		return f.Stored(string(snappy.Encode(nil, []byte(longRun(first+strings.Repeat("k", length-1), 1)))), 1)
	}
	shorter, longer := block("a", 27<<20), block("b", 40<<20)
	metaindex := f.Block(rawtable.Entries())
	contents := f.Footer(metaindex, f.Block(rawtable.Entries("b", shorter, "c", longer)))
	const bounded = "memory for such keys is bounded"
	r := open(t, contents, nil)
	it := r.NewIter(nil)
	if n := count(it.First, it.Next); n != 2 {
		t.Errorf("%d entries forward, want 2 of 4", n)
	}
	checkError(t, "forward", it.Close(), nil, bounded)
	it = r.NewIter(nil)
	if n := count(it.Last, it.Prev); n != 4 || it.Close() != nil { // the shorter key reuses the memory of the longer
		t.Errorf("%d entries backward, %v, want 4", n, it.Error())
	}
	checkError(t, "Verify", r.Verify(), nil, bounded)
}

// count returns the number of entries from the first one on.
func count(first, next func() bool) (n int) {
	for ok := first(); ok; ok = next() {
		n++
	}
	return n
}

// A metaindex can list far more blocks than fit in the file.
func TestMetaindexThatListsMuch(t *testing.T) {
	for name, offsets := range map[string]func(i int) uint64{
		"one block, of many names": func(i int) uint64 { return 0 },
		"blocks that overlap":      func(i int) uint64 { return uint64(i) },
	} {
		var f rawtable.File
		f.Block(strings.Repeat("x", 1<<20))
		var names []string
		for i := range 2000 {
			names = append(names, fmt.Sprintf("filter.%04d", i), rawtable.Handle(offsets(i), 1<<20-2000))
		}
		metaindex := f.Block(rawtable.Entries(names...))
		in := inspect(t, name, f.Footer(metaindex, f.Block(rawtable.Entries())), nil, nil)
		if noError(t, in.opened); !strings.Contains(fmt.Sprint(in.verified), "more than 1000 entries") {
			t.Errorf("%s: Verify = %v", name, in.verified)
		}
	}
}

// All of many data blocks are corrupt: Verify stops before its findings take more memory than the file.
func TestVerifyStops(t *testing.T) {
	long.NoRace(t)
	var f rawtable.File
	w, err := block.NewWriter(1, block.Order{})
	noError(t, err)
	for i := range 200_000 {
		noError(t, w.Append(binary.BigEndian.AppendUint32(nil, uint32(i)), []byte(f.Block("x"))))
	}
	metaindex := f.Block(rawtable.Entries())
	in := inspect(t, "damaged blocks", f.Footer(metaindex, f.Block(string(w.Finish()))), nil, nil)
	if said := fmt.Sprint(in.verified); !strings.HasSuffix(said, "too many findings: the rest of the table was not checked") {
		t.Errorf("Verify ends with …%s", said[len(said)-100:])
	}
}

// Verify counts all keys that filters rule out, names a few of each data block, and bounds the length of its
// message.
func TestVerifyCountsDeniedKeys(t *testing.T) {
	long.NoRace(t)
	for _, tt := range []struct {
		name string
		n    int // keys
		o    table.WriterOptions
		most int // bytes of the message
	}{
		{"one block", 3000, table.WriterOptions{BlockSize: 1 << 20}, 300},
		{"blocks of the usual size", 3000, table.WriterOptions{}, 5000},
		{"a block for each key, of which not all are named", 50_000, table.WriterOptions{BlockSize: 1}, 3 << 20},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.o.FilterPolicy, tt.o.Compression = filter.NewBloom(10), table.NoCompression
			contents := build(t, &tt.o, numbered(tt.n))
			filters := open(t, contents, nil).Filters()
			at := filters.BlocksEntry.Offset
			for i := range filters.Blocks.Len() {
				n := uint64(len(filters.Blocks.Filter(i)))
				clear(contents[at:][:max(n, 1)-1]) // all but k
				at += n
			}
			rawtable.Repair(contents)
			in := inspect(t, tt.name, contents, nil, nil)
			denied, message := 0, fmt.Sprint(in.verified)
			for _, match := range regexp.MustCompile(`rules out (\d+)`).FindAllStringSubmatch(message, -1) {
				n, _ := strconv.Atoi(match[1])
				denied += n
			}
			if denied != tt.n || len(message) > tt.most {
				t.Errorf("Verify counts %d denied keys of %d in %d bytes, want at most %d: %.300s", denied, tt.n, len(message), tt.most, message)
			}
		})
	}
}

// Keys and values of 64 MiB are written, found, iterated and verified, whether
// they compress or not.
func TestHugeKeysAndValues(t *testing.T) {
	needsMemory(t)
	const n = 64 << 20
	random := make([]byte, n)
	rand.NewChaCha8([32]byte{}).Read(random)
	random[0] = 'k'
	for name, huge := range map[string][]byte{"random": random, "zeros": append([]byte("k"), make([]byte, n-1)...)} {
		t.Run(name, func(t *testing.T) {
			pairs := []workload.Pair{{Key: []byte("k"), Value: []byte("1")}, {Key: huge, Value: huge}, {Key: []byte("l"), Value: huge}}
			contents := build(t, withBloom, pairs)
			in := inspect(t, name, contents, nil, nil)
			if err := errors.Join(in.opened, in.forward, in.backward, in.verified); err != nil || in.entries != len(pairs) {
				t.Errorf("%d entries, %v", in.entries, err)
			}
			r := open(t, contents, nil)
			for _, p := range pairs {
				checkGet(t, r, p.Key, p.Value)
			}
		})
	}
}
