package goleveldb_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
)

// goleveldb's Recover writes tables of internal keys with the comparer and the filter of user
// keys. All of their keys are found, in any order of the user keys that they were written in.
func TestRecoveredTable(t *testing.T) {
	t.Parallel()
	bloom := lfilter.NewBloomFilter(10)
	for _, users := range []string{"%d", "user%016d"} { // separators are shorter than 8 bytes, and longer
		var entries []entry
		for i := range 300 {
			key := internalKey(fmt.Appendf(nil, users, 1_000_000+i*7), uint64(i+1), 1)
			entries = append(entries, entry{key, fmt.Appendf(nil, "value %d", i)})
		}
		contents := theirTable(t, &opt.Options{Filter: bloom, BlockSize: 300}, entries)
		for _, f := range []lfilter.Filter{nil, &iFilter{bloom}} {
			_, r := openBoth(t, contents, &opt.Options{Comparer: &iComparer{comparer.DefaultComparer}, Filter: f})
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
