package goleveldb_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lerrors "github.com/syndtr/goleveldb/leveldb/errors"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/sievetable/sievetable/table/goleveldb"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// If any byte before the footer is corrupt, both packages return the same values, or errors of the same kind for the
// same part of the file. Only a corrupt metaindex does not affect our package: it does without a filter.
func TestDamageAsGoleveldb(t *testing.T) {
	t.Parallel()
	c := tableCase{o: opt.Options{Filter: lfilter.NewBloomFilter(10), BlockSize: 300, Compression: opt.NoCompression, Strict: opt.StrictAll}}
	entries := c.entries(40)
	sound := theirTable(t, &c.o, entries)
	whole, _ := openBoth(t, sound, &c.o)
	for i := range sound[:len(sound)-48] {
		damaged := bytes.Clone(sound)
		damaged[i] ^= 0x55
		theirs, ours := openBoth(t, damaged, &c.o)
		if strings.Contains(scanned(theirs), "meta-block") {
			theirs = whole
		}
		for _, e := range []entry{entries[0], entries[20], entries[39]} {
			if got, want := find(ours, e.key), find(theirs, e.key); got != want {
				t.Errorf("byte %d is corrupt: Find(%q) = %s, want %s", i, e.key, got, want)
			}
		}
		if got, want := scanned(ours), scanned(theirs); got != want {
			t.Errorf("byte %d is corrupt: a scan returns %s, want %s", i, got, want)
		}
	}
}

// find returns the result of Find as text.
func find(r reader, key []byte) string {
	k, v, err := r.Find(key, true, nil)
	return fmt.Sprintf("%q, %q, %s", k, v, errorKind(err))
}

// scanned returns the number of entries of a scan, and the error that ends it.
func scanned(r reader) string {
	it := r.NewIterator(nil, nil)
	defer it.Release()
	n := 0
	for it.Next() {
		n++
	}
	return fmt.Sprintf("%d entries, %s", n, errorKind(it.Error()))
}

// A truncated file is corrupt, not unreadable. So is a file that is not a table.
func TestShortFilesAreDamaged(t *testing.T) {
	t.Parallel()
	contents := theirTable(t, nil, (&tableCase{}).entries(10))
	size := int64(len(contents))
	for _, tt := range []struct {
		name string
		f    []byte
		size int64
		want string
	}{
		{"empty", nil, 0, "000007.ldb: table at 0, 0 bytes"},
		{"shorter than a footer", contents[:47], 47, "000007.ldb: table at 0, 47 bytes"},
		{"no footer at its end", contents[:size-1], size - 1, fmt.Sprintf("000007.ldb: table-footer at %d, 48 bytes", size-49)},
		{"shorter than it should be", contents[:size-1], size, fmt.Sprintf("000007.ldb: table at 0, %d bytes", size)},
		{"of a negative size", contents, -1, "000007.ldb: table at 0, 0 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := goleveldb.NewReader(bytes.NewReader(tt.f), tt.size, fd, nil, nil, nil)
			noError(t, err)
			_, _, findErr := r.Find([]byte("1"), false, nil)
			_, offsetErr := r.OffsetOf([]byte("1"))
			it := r.NewIterator(nil, nil)
			for _, err := range []error{findErr, offsetErr, it.Error()} {
				if got := errorKind(err); got != tt.want || !lerrors.IsCorrupted(err) {
					t.Errorf("%s, want %s", got, tt.want)
				}
			}
			r.Release()
			if _, err := r.Get([]byte("1"), nil); err != goleveldb.ErrReaderReleased {
				t.Errorf("after Release: %v", err)
			}
		})
	}
	if _, err := goleveldb.NewReader(nil, 100, fd, nil, nil, nil); err == nil {
		t.Error("a nil file is no error")
	}
}

// Without StrictBlockChecksum, a corrupt value is returned unchanged.
func TestUncheckedBlocks(t *testing.T) {
	t.Parallel()
	o := opt.Options{Compression: opt.NoCompression, Strict: opt.StrictJournal}
	contents := theirTable(t, &o, []entry{{[]byte("key"), []byte("value")}})
	contents[bytes.Index(contents, []byte("value"))] = 'V'
	theirs, ours := openBoth(t, contents, &o)
	for _, r := range []reader{theirs, ours} {
		if got, err := r.Get([]byte("key"), nil); err != nil || string(got) != "Value" {
			t.Errorf("%T: Get = %q, %v", r, got, err)
		}
	}
}

// A Reader never panics, whatever the bytes, even with the engine's comparer and filter, which panic for keys that
// are too short.
func FuzzReader(f *testing.F) {
	engine := opt.Options{Comparer: leveldb.NewComparer(descending), Filter: leveldb.NewFilter(lfilter.NewBloomFilter(10)), Compression: opt.NoCompression, Strict: opt.NoStrict}
	plain := opt.Options{Comparer: comparer.DefaultComparer, Filter: lfilter.NewBloomFilter(10), Strict: opt.StrictAll}
	for o, users := range map[*opt.Options]string{&engine: "cba", &plain: "abc"} {
		var b bytes.Buffer
		w := goleveldb.NewWriter(&b, o, nil, 0)
		for _, user := range []byte(users) {
			noError(f, w.Append(internalKey([]byte{user}, 1, 1), []byte("value")))
		}
		noError(f, w.Close())
		f.Add(b.Bytes(), internalKey([]byte("b"), 3, 1))
	}
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		for _, o := range []*opt.Options{&engine, &plain} {
			r, err := goleveldb.NewReader(bytes.NewReader(contents), int64(len(contents)), storage.FileDesc{}, nil, nil, o)
			noError(t, err)
			_, _ = r.Get(key, nil)
			_, _, _ = r.Find(key, true, nil)
			_, _ = r.OffsetOf(key)
			it := r.NewIterator(nil, nil)
			for it.Next() {
			}
			it.Seek(key)
			it.Release()
			r.Release()
		}
	})
}
