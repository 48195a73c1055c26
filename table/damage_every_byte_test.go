package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// smallTables returns the tables in which each byte is changed.
func smallTables(t *testing.T, pairs []workload.Pair) map[string][]byte {
	all := table.WriterOptions{
		Properties: true, BlockSize: 200, FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10),
	}
	never := table.WriterOptions{
		Compression: table.NoCompression, BlockSize: 200, TableFilterPolicy: filter.NewTableBloom(1), Never: absentKeys(200),
	}
	prefixed := table.WriterOptions{
		BlockSize: 200, FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), FilterPrefix: filter.PrefixOfLength(8),
	}
	return map[string][]byte{
		"prefixed": build(t, &prefixed, pairs),
		"never":    build(t, &never, pairs),
		"all":      build(t, &all, pairs),
		"raw":      build(t, &table.WriterOptions{Compression: table.NoCompression, BlockSize: 200}, pairs),
		"snappy":   build(t, &table.WriterOptions{BlockSize: 200}, pairs),
		"filtered": build(t, &table.WriterOptions{Compression: table.NoCompression, BlockSize: 200, FilterPolicy: filter.NewBloom(10)}, pairs),
		"digested": build(t, &table.WriterOptions{Compression: table.NoCompression, BlockSize: 200, FilterPolicy: filter.NewBloom(10), DataDigest: true}, pairs),
	}
}

// stride is the distance between the bytes that tests change.
func stride() int {
	if long.Enabled() {
		return 1
	}
	return 11
}

// eachChange calls f with each byte of contents set to several other values, or one in eleven bytes
// unless long tests are enabled.
func eachChange(contents []byte, f func(name string, changed []byte)) {
	for i := 0; i < len(contents); i += stride() {
		c := contents[i]
		for _, v := range []byte{0, c ^ 1, c ^ 0x80, c + 1, 0x7f, 0xff} {
			if v == c {
				continue
			}
			changed := bytes.Clone(contents)
			changed[i] = v
			f(fmt.Sprintf("byte %d set to %#x", i, v), changed)
		}
	}
}

// For each changed byte and each truncation, reads return an error or correct pairs.
func TestEveryByteChanged(t *testing.T) {
	long.NoRace(t)
	pairs := numbered(20)
	for name, contents := range smallTables(t, pairs) {
		eachChange(contents, func(change string, changed []byte) {
			checkErrorOrTruth(t, name+": "+change, changed, pairs)
		})
		for n := 0; n < len(contents); n += stride() {
			checkErrorOrTruth(t, fmt.Sprintf("%s: cut to %d bytes", name, n), contents[:n], pairs)
		}
	}
}

func checkErrorOrTruth(t *testing.T, name string, contents []byte, pairs []workload.Pair) {
	t.Helper()
	in := inspect(t, name, contents, nil, truthOf(pairs...))
	if in.verified == nil {
		t.Errorf("%s: Verify reports nothing", name)
	}
	if in.forward == nil && in.entries < len(pairs) {
		t.Errorf("%s: %d entries and no error, want %d", name, in.entries, len(pairs))
	}
	r, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil)
	for i := 0; err == nil && i < len(pairs); i++ {
		v, err := r.Get(pairs[i].Key)
		if err == nil && !bytes.Equal(v, pairs[i].Value) || err != nil && !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("%s: Get(%q) = %q, %v", name, pairs[i].Key, v, err)
		}
	}
}

// Each byte is changed under valid checksums, so reads return what the file now contains. Every operation ends
// within its memory, and if Verify finds nothing, all ways to read agree.
func TestEveryByteChangedUnderRightChecksums(t *testing.T) {
	long.NoRace(t)
	pairs := numbered(20)
	for name, contents := range smallTables(t, pairs) {
		passed := 0
		eachChange(contents, func(change string, changed []byte) {
			rawtable.Repair(changed)
			in := inspect(t, name+": "+change, changed, nil, nil)
			if in.verified != nil {
				return
			}
			passed++
			if err := errors.Join(in.opened, in.forward, in.backward); err != nil {
				t.Errorf("%s: %s: Verify passes, but %v", name, change, err)
				return
			}
			r := open(t, changed, nil)
			read := forward(t, r.NewIter(nil))
			checkPairs(t, name+": "+change+", backward", read, backward(t, r.NewIter(nil)))
			checkLookups(t, r, read)
			tailSum(t, changed) // has no error
		})
		if passed == 0 {
			t.Errorf("%s: no change passes, not even one of a value's byte", name)
		}
	}
}

// The same holds for a filter-only table: if Verify finds nothing, neither lookups nor Properties report corruption.
// If the filter, its exceptions or the properties are corrupt, MayContain rules out no key.
func TestEveryByteOfAFilterOnlyChanged(t *testing.T) {
	long.NoRace(t)
	never, keys, _ := withNever(t, 20, table.WriterOptions{FilterOnly: true})
	for _, contents := range [][]byte{never, filterOnly(t, keys)} {
		eachChange(contents, func(change string, changed []byte) {
			in := inspect(t, change, changed, nil, nil)
			if in.opened == nil && in.verified == nil {
				t.Errorf("%s: Verify reports nothing", change)
			} else if in.opened == nil {
				noError(t, mayContainAll(open(t, changed, nil), keys))
			}
			rawtable.Repair(changed)
			inspect(t, change+", under right checksums", changed, nil, nil)
		})
	}
}
