package source

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"
)

// While a database is in use its tables come and go. What does not change is read all the
// same, each entry once and in order; what changes, as it was at some time.
func TestDatabaseInUse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := leveldb.OpenFile(dir, &opt.Options{WriteBuffer: 16 << 10, CompactionTableSize: 8 << 10, BlockCacheCapacity: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close() // it is as it was left, or the test failed
	const n = 3000
	put := func(round int) {
		for i := range n {
			value := fmt.Appendf(nil, "%06d in round %d", i, round)
			if i%2 == 0 { // what does not change
				value = fmt.Appendf(nil, "%06d", i)
			}
			if err := db.Put(fmt.Appendf(nil, "key%06d", i), value, nil); err != nil {
				t.Fatal(err)
			}
		}
	}
	put(0)
	changed := 0
	for round := 1; round < 4; round++ {
		for _, reverse := range []bool{false, true} {
			s, err := OpenSource(dir, Options{Note: func(string) { changed++ }})
			if err != nil {
				t.Fatal(err)
			}
			seen, last := 0, []byte(nil)
			for e, err := range s.Scan(ScanOptions{Reverse: reverse}) {
				if err != nil {
					t.Fatal(err)
				}
				if last != nil && (bytes.Compare(e.Key, last) > 0) == reverse {
					t.Fatalf("key %q after %q", e.Key, last)
				}
				if last = bytes.Clone(e.Key); !strings.HasPrefix(string(e.Value), string(e.Key[3:])) {
					t.Fatalf("%q has %q", e.Key, e.Value)
				}
				if seen++; seen == 500 { // all tables there were are gone after this
					put(round)
					if err := db.CompactRange(util.Range{}); err != nil {
						t.Fatal(err)
					}
				}
			}
			if seen != n {
				t.Errorf("%d entries, want %d", seen, n)
			}
			if _, found, err := s.Get([]byte("key000002")); !found || err != nil {
				t.Errorf("Get = %v, %v", found, err)
			}
			if err := errors.Join(s.Damage, s.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	if changed == 0 {
		t.Error("no note that the database is in use")
	}
}
