package source

import (
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// offsets counts the reads of a file by their offsets.
type offsets struct {
	io.ReaderAt
	reads map[uint64]int
}

func (o *offsets) ReadAt(p []byte, off int64) (int, error) {
	o.reads[uint64(off)]++
	return o.ReaderAt.ReadAt(p, off)
}

// recorded returns Options that record the reads of each table that is opened.
func recorded(opened *[]*offsets, lookups bool) Options {
	wrap := func(r io.ReaderAt) io.ReaderAt {
		o := &offsets{r, map[uint64]int{}}
		*opened = append(*opened, o)
		return o
	}
	return Options{Lookups: lookups, ListOptions: dbdir.ListOptions{Options: dbfile.Options{WrapReader: wrap}}}
}

// A lookup in a database opens only the table whose range contains the key, and reads its footer, metaindex and
// index once.
func TestLookupReadsOnce(t *testing.T) {
	t.Parallel()
	dir := writeDatabase(t)
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		var opened []*offsets
		s := openSource(t, dir, recorded(&opened, false))
		key := fmt.Sprintf("key%06d", 1000+random.IntN(3000))
		_, _, err := s.Get([]byte(key))
		noError(t, err)
		if len(s.openTables) != 1 || len(opened) != 1 {
			t.Fatalf("%d tables are open for %s, and %d were opened, want 1 of %d", len(s.openTables), key, len(opened), len(s.Tables))
		}
		l, reads := s.openTables[0].file.Layout, opened[0].reads
		got := map[string]int{"footer": reads[uint64(l.Footer)], "metaindex": reads[l.Metaindex.Offset], "index": reads[l.Index.Offset]}
		if diff := cmp.Diff(map[string]int{"footer": 1, "metaindex": 1, "index": 1}, got); diff != "" {
			t.Errorf("reads for %s (-want +got):\n%s", key, diff)
		}
	}
}
