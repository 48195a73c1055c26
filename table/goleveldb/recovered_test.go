package goleveldb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/table/goleveldb"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// goleveldb's Recover writes tables of internal keys with the comparer and the filter for user keys. All their keys
// are found, whatever order of user keys they were written in.
func TestRecoveredTableIsReadInFull(t *testing.T) {
	t.Parallel()
	bloom := lfilter.NewBloomFilter(10)
	for _, users := range []string{"%d", "user%016d"} { // with separators shorter and longer than 8 bytes
		var entries []entry
		for i := range 300 {
			key := internalKey(fmt.Appendf(nil, users, 1_000_000+i*7), uint64(i+1), 1)
			entries = append(entries, entry{key, fmt.Appendf(nil, "value %d", i)})
		}
		contents := theirTable(t, &opt.Options{Filter: bloom, BlockSize: 300}, entries)
		for _, f := range []lfilter.Filter{nil, leveldb.NewFilter(bloom)} {
			_, r := openBoth(t, contents, &opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer), Filter: f})
			if diff := cmp.Diff(entries, scan(t, r), cmp.AllowUnexported(entry{})); diff != "" {
				t.Errorf("%s: a scan (-want +got):\n%s", users, diff)
			}
			for _, e := range entries {
				seek := internalKey(e.key[:len(e.key)-8], 1<<56-1, 1)
				k, v, err := r.Find(seek, true, nil)
				if err != nil || !bytes.Equal(k, e.key) || !bytes.Equal(v, e.value) {
					t.Fatalf("%s: Find(%q) = %q, %q, %v, want %q", users, seek, k, v, err, e.key)
				}
			}
		}
	}
}

// A recovered table with a damaged block cannot be put in order, but listed, as in goleveldb.
func TestDamagedRecoveredTable(t *testing.T) {
	t.Parallel()
	var entries []entry
	for i := range 300 {
		entries = append(entries, entry{internalKey(fmt.Appendf(nil, "%d", 1_000_000+i*7), uint64(i+1), 1), []byte("value")})
	}
	contents := theirTable(t, &opt.Options{BlockSize: 300}, entries)
	contents[len(contents)/3] ^= 1
	o := &opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer), Strict: opt.StrictBlockChecksum}
	theirs, ours := openBoth(t, contents, o)
	for _, ro := range []*opt.ReadOptions{nil, {Strict: opt.StrictReader}} {
		var walks [2][]string
		for i, r := range []reader{theirs, ours} {
			it := r.NewIterator(nil, ro)
			for it.Next() {
				walks[i] = append(walks[i], string(it.Key()))
			}
			walks[i] = append(walks[i], errorKind(it.Error()))
			it.Release()
		}
		if diff := cmp.Diff(walks[0], walks[1]); diff != "" || len(walks[0]) < 50 {
			t.Errorf("%+v: %d entries (-want +got):\n%s", ro, len(walks[0]), diff)
		}
	}
	if _, err := ours.Get(entries[0].key, nil); !lerrors.IsCorrupted(err) {
		t.Errorf("Get: %v, want an error of the damaged block", err)
	}
}

// The copy of a recovered table is bounded: keys that share bytes can be far longer than the file.
func TestHugeRecoveredTable(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	const n, length = 1000, 300 << 10
	w := theirWriter(&b, &opt.Options{BlockSize: length + 10*n, BlockRestartInterval: n})
	user := bytes.Repeat([]byte{'u'}, length)
	for i := range uint64(n) {
		noError(t, w.Append(internalKey(fmt.Appendf(user, "%04d", i), i, 1), nil))
	}
	noError(t, w.Close())
	o := &opt.Options{Comparer: leveldb.NewComparer(comparer.DefaultComparer)}
	r, err := goleveldb.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()), fd, nil, nil, o)
	noError(t, err)
	defer r.Release()
	if _, err := r.FindKey(internalKey(user, 1, 1), false, nil); !lerrors.IsCorrupted(err) {
		t.Errorf("%d keys of %d bytes in a file of %d bytes: %.100v, want corruption", n, length, b.Len(), err)
	}
}
