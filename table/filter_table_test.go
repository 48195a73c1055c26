package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// A whole-table filter rules keys out before the index is searched, with the
// filter by data blocks behind it or without.
func TestTableFilterRulesKeysOutBeforeTheIndex(t *testing.T) {
	t.Parallel()
	pairs := numbered(2000)
	for _, tt := range []struct {
		name string
		o    table.WriterOptions
	}{
		{"alone", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}},
		{"with one by blocks", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterPolicy: filter.NewBloom(10)}},
		{"by two goroutines", table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Concurrency: 2}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m table.Metrics
			contents := build(t, &tt.o, pairs)
			r := open(t, contents, &table.ReaderOptions{Metrics: &m})
			if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
				t.Error(err)
			}
			checkLookups(t, r, pairs)
			absent := m.Lookups.Load() - uint64(len(pairs))
			negatives, wrong := m.TableFilterNegatives.Load(), m.FilterFalsePositives.Load()
			if negatives < absent*97/100 || m.FilterNegatives.Load()+wrong != absent {
				t.Errorf("%d of %d absent keys ruled out, %d of them by the table's filter, and %d not", m.FilterNegatives.Load(), absent, negatives, wrong)
			}
			if reads := m.BlocksRead.Load(); reads != uint64(len(pairs))+wrong {
				t.Errorf("%d blocks read for %d present keys and %d false positives", reads, len(pairs), wrong)
			}
			var ignored table.Metrics
			checkLookups(t, open(t, contents, &table.ReaderOptions{IgnoreFilter: true, Metrics: &ignored}), pairs)
			if n := ignored.FilterChecks.Load(); n > 0 {
				t.Errorf("%d questions with IgnoreFilter", n)
			}
		})
	}
}

// The filter holds what FilterKey says, and Find asks it.
func TestTableFilterKey(t *testing.T) {
	t.Parallel()
	var m table.Metrics
	c := table.InternalComparer(table.BytewiseComparer)
	contents := build(t, &table.WriterOptions{Comparer: c, FilterKey: table.InternalFilterKey, TableFilterPolicy: filter.NewTableBloom(16)},
		pairsOf(string(internalKey("a", 9, table.KindSet)), string(internalKey("a", 3, table.KindDelete)), string(internalKey("c", 5, table.KindSet))))
	r := open(t, contents, &table.ReaderOptions{Comparer: c, FilterKey: table.InternalFilterKey, Metrics: &m})
	for _, tt := range []struct {
		user     string
		sequence uint64
		want     string
	}{
		{"a", 20, "a@9 set"}, {"a", 9, "a@9 set"}, {"a", 8, "a@3 deleted"}, {"a", 2, ""},
		{"b", 20, ""}, {"c", 5, "c@5 set"}, {"c", 4, ""}, {"d", 20, ""},
	} {
		got := ""
		k, _, err := r.Find(table.SearchKey(nil, []byte(tt.user), tt.sequence))
		if err == nil {
			key, _ := table.ParseInternalKey(k)
			got = fmt.Sprintf("%s@%d %s", key.UserKey, key.Sequence, map[table.Kind]string{table.KindSet: "set", table.KindDelete: "deleted"}[key.Kind])
		} else if !errors.Is(err, table.ErrNotFound) {
			t.Error(err)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s as of %d (-want +got):\n%s", tt.user, tt.sequence, diff)
		}
	}
	if n := m.TableFilterNegatives.Load(); n != 2 {
		t.Errorf("the filter ruled out %d, want b and d", n)
	}
	wholeKey := func(key []byte) []byte { return key }
	if err := open(t, contents, &table.ReaderOptions{Comparer: c, FilterKey: wholeKey}).Verify(); err == nil || !strings.Contains(textOf(err), "InternalFilterKey") {
		t.Errorf("Verify with another FilterKey = %v, want a hint at InternalFilterKey", err)
	}
}

// A damaged filter costs time only, and leaves the other one in use.
func TestDamagedTableFilter(t *testing.T) {
	t.Parallel()
	pairs := numbered(10)
	for _, tt := range []struct {
		name, k, lines, want string
	}{
		{"sound", "\x06", "\x01\x00\x00\x00", ""},
		{"of another encoding", "\xff", "\x01\x00\x00\x00", "filter: table filter with k = -1"},
		{"of more lines than bytes", "\x06", "\x02\x00\x00\x00", "filter: table filter of 2 lines in 64 bytes"},
		{"of no lines", "\x06", "\x00\x00\x00\x00", "filter: table filter of 0 lines in 64 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents := build(t, &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression}, pairs)
			at := bytes.Index(contents, []byte("\x06\x01\x00\x00\x00"))
			copy(contents[at:], tt.k+tt.lines)
			rawtable.Repair(contents)
			var m table.Metrics
			r := open(t, contents, &table.ReaderOptions{Metrics: &m})
			if tt.want != "" {
				checkNames(t, tt.name, fmt.Sprintf("table filter block at %d: %s", at-64, tt.want), r.FilterErr(), r.Verify())
			} else if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
				t.Error(err)
			}
			checkLookups(t, r, pairs)
			if asked, reads := m.FilterChecks.Load(), m.BlocksRead.Load(); asked == 0 || reads > 20 {
				t.Errorf("%d questions and %d reads, want the filter by data blocks in use", asked, reads)
			}
		})
	}
}

// A filter that denies keys is found out by Verify.
func TestVerifyAsksTableFilter(t *testing.T) {
	t.Parallel()
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), Compression: table.NoCompression}, numbered(10))
	at := bytes.Index(contents, []byte("\x06\x01\x00\x00\x00"))
	clear(contents[at-64 : at])
	rawtable.Repair(contents)
	r := open(t, contents, nil)
	if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(textOf(err), `denies 10 of 10 keys of the data block at 0: "key000000", "key000002", "key000004", …`) {
		t.Errorf("Verify = %v, want the keys that the filter denies", err)
	}
}

// A filter without keys is not written.
func TestTableFilterWithoutKeys(t *testing.T) {
	t.Parallel()
	never := func([]byte) []byte { return nil }
	contents := build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10), FilterKey: never}, numbered(10))
	if bytes.Contains(contents, []byte("fullfilter")) {
		t.Error("a filter of no keys was written")
	}
}

// Two filters in the same bytes are damage: the second is not read.
func TestTwoFiltersInOneBlock(t *testing.T) {
	t.Parallel()
	p := sound()
	p.meta = func(h string) string {
		return rawtable.Entries(bloomName, h, "fullfilter.rocksdb.BuiltinBloomFilter", h)
	}
	r := open(t, p.build(), nil)
	if err := r.FilterErr(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(textOf(err), "table filter block at 54: overlaps the block at 54") {
		t.Errorf("FilterErr = %v, want ErrCorrupt", err)
	}
}

// Filters returns the filters that are in use.
func TestFiltersReturnsThoseInUse(t *testing.T) {
	t.Parallel()
	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}
	contents := build(t, o, pairsOf("ada", "ken"))
	got := open(t, contents, nil).Filters()
	if got.Blocks == nil || got.BlocksEntry.Name != "filter.leveldb.BuiltinBloomFilter" || got.Table == nil || !got.Table.Contains([]byte("ada")) {
		t.Errorf("Filters = %+v, want both", got)
	}
	if got := open(t, contents, &table.ReaderOptions{IgnoreFilter: true}).Filters(); got.Blocks != nil || got.Table != nil {
		t.Errorf("Filters of a Reader that ignores them = %+v", got)
	}
}
