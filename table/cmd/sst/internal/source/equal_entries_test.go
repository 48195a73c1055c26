package source

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// Of equal entries in tables that no manifest lists, the one in the table with the highest number is the newest, in
// each way to read.
func TestEqualEntries(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		rng, dir, internalKeys := rand.New(rand.NewPCG(seed, 11)), t.TempDir(), dbfile.No
		o := table.WriterOptions{}
		if seed%2 > 0 {
			internalKeys, o.Comparer = dbfile.Yes, table.InternalComparer(nil)
		}
		all := map[string][]string{} // the tables of each key, the oldest first
		for i := range 2 + rng.IntN(5) {
			name, keys := fmt.Sprintf("%06d.ldb", i+1), []string(nil)
			for k := range 8 {
				user := fmt.Sprint("key", k)
				if rng.IntN(3) > 0 {
					continue
				}
				all[user] = append(all[user], name)
				if internalKeys == dbfile.Yes {
					user = internal(user, 5)
				}
				keys = append(keys, user)
			}
			filetest.WriteTable(t, filepath.Join(dir, name), o, keys...)
		}
		s := openSource(t, dir, Options{ListOptions: dbdir.ListOptions{Options: dbfile.Options{InternalKeys: internalKeys}}})
		for _, reverse := range []bool{false, true} {
			for _, versions := range []bool{false, true} {
				got := map[string][]string{}
				for e, err := range s.Scan(ScanOptions{Reverse: reverse, Versions: versions}) {
					noError(t, err)
					got[string(e.Key)] = append(got[string(e.Key)], filepath.Base(e.Table.Path))
				}
				want := map[string][]string{}
				for user, tables := range all {
					if tables = slices.Clone(tables); !versions {
						tables = tables[len(tables)-1:]
					}
					if !reverse {
						slices.Reverse(tables)
					}
					want[user] = tables
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("seed %d, reverse %t, versions %t (-want +got):\n%s", seed, reverse, versions, diff)
				}
			}
		}
		for user, tables := range all {
			e, found, err := s.Get([]byte(user))
			noError(t, err)
			if want := tables[len(tables)-1]; !found || filepath.Base(e.Table.Path) != want {
				t.Errorf("seed %d: Get of %s = %v in %v, want %s", seed, user, found, e.Table, want)
			}
		}
	}
}
