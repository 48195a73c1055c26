package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// Verify reads the tables themselves. It neither uses nor fills the Cache, and lookups' Metrics do not count it.
func TestVerifyLeavesCacheAndMetricsAsTheyAre(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	o := table.ReaderOptions{Cache: table.NewCache(1 << 20), Metrics: new(table.Metrics)}
	s := open(t, m, src, &set.Options{Reader: o})
	checkGet(t, s, key(7), valueOf(7))
	metrics, cached := o.Metrics.String(), o.Cache.Size()
	noError(t, s.Verify(background, nil))
	checkDiff(t, "Metrics", metrics, o.Metrics.String())
	checkDiff(t, "Cache", cached, o.Cache.Size())
}

// Verify finds each changed byte of each table, reports each table, and reports no error twice.
func TestVerifyFindsEachChangedByte(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	small := newStore()
	for _, test := range []struct {
		src  *store
		m    *set.Manifest
		name string // of the changed table
		step int
		bits byte
	}{
		{src, m, "t001", 7, 4},
		{small, manifestOf(small.put(t, "t", nil, [][2]string{{"a", "1"}, {"b", "2"}})), "t", 1, 0xff},
	} {
		s := open(t, test.m, test.src, nil)
		noError(t, s.Verify(background, nil))
		contents := test.src.files[test.name]
		for i := 0; i < len(contents); i += test.step {
			test.src.files[test.name] = bytes.Clone(contents)
			test.src.files[test.name][i] ^= test.bits
			var got, want []string
			err := s.Verify(background, func(l set.Table, err error) { got = append(got, l.Name, fmt.Sprint(err)) })
			for _, l := range test.m.Tables {
				finding := error(nil)
				if l.Name == test.name {
					finding = err
				}
				want = append(want, l.Name, fmt.Sprint(finding))
			}
			checkDiff(t, fmt.Sprintf("byte %d: reports", i), want, got)
			checkError(t, fmt.Sprintf("byte %d: Verify", i), err, set.ErrMismatch, `"`+test.name+`": sha256: `)
			findings := strings.Split(fmt.Sprint(err), "\n")
			if slices.Sort(findings); len(slices.Compact(slices.Clone(findings))) < len(findings) {
				t.Errorf("byte %d: reported twice: %q", i, findings)
			}
		}
	}
}

// Verify reads each byte of a table once, in large reads, and one more byte to check that the file ends there.
func TestVerifyReadsEachTableOnce(t *testing.T) {
	t.Parallel()
	pairs := numbered(0, 3000)
	for i := range pairs {
		pairs[i][1] = strings.Repeat(pairs[i][0], 100)
	}
	for name, o := range map[string]*table.WriterOptions{
		"plain":    {Compression: table.NoCompression},
		"filters":  {Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(100)},
		"digest":   {DataDigest: true, TableFilterPolicy: filter.NewTableBloom(10)},
		"one read": {BlockSize: 3 << 20},
	} {
		src, m := newStore(), new(set.Manifest)
		m.Tables = []set.Table{src.put(t, "t", o, pairs)}
		s := open(t, m, src, nil)
		calls, read := int64(0), int64(0)
		src.before = func(_ context.Context, _ string, p []byte, _ int64) (int, error, bool) {
			calls, read = calls+1, read+int64(len(p))
			return 0, nil, false
		}
		if err := s.Verify(background, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		size := m.Tables[0].Size
		if most := size>>20 + 2; calls > most || read != size+1 {
			t.Errorf("%s: %d bytes by %d reads of a table of %d bytes, want %d by at most %d", name, read, calls, size, size+1, most)
		}
	}
}

// Verify notices a wrong manifest that opening a table does not notice. For a table with only a filter, it checks
// all that can be checked.
func TestVerifyOfForgedManifests(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]*table.WriterOptions{
		"one block, no filters, no properties": {BlockSize: 1 << 20},
		"a filter only":                        {FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)},
	} {
		src := newStore()
		line := src.put(t, "t", o, pairsFor(o, 0, perTable))
		for want, forge := range map[string]func(l *set.Table){
			"sha256":   func(l *set.Table) { l.SHA256 = strings.Repeat("0", 64) },
			"entries":  func(l *set.Table) { l.Entries = 3 },
			"smallest": func(l *set.Table) { l.Smallest = []byte("a") },
			"largest":  func(l *set.Table) { l.Largest = []byte(key(48) + "x") },
		} {
			err := open(t, changed(line, forge), src, nil).Verify(background, nil)
			checkError(t, name+": Verify", err, set.ErrMismatch, `set: table "t": `+want+": ")
		}
	}
}

// Verify notices a tail that is too short to open the table, which Open leaves to lookups.
func TestVerifyOfShortTails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	for _, tail := range []int64{48, m.Tables[0].TailSize - 1} {
		s := open(t, changed(m.Tables[0], func(l *set.Table) { l.TailSize = tail }), src, nil)
		_, want := s.Get(background, []byte(key(0)))
		err := s.Verify(background, nil)
		if !errors.Is(err, set.ErrMismatch) || want == nil || err.Error() != want.Error() {
			t.Errorf("Verify with a tail of %d bytes = %v, want what Get returns: %v", tail, err, want)
		}
	}
}

// An error of the Source is reported for its table. If the context is done, Verify ends.
func TestVerifyThatFails(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	s := open(t, m, src, nil)
	src.before = failing(broken, "t001")
	var got []string
	report := func(l set.Table, err error) {
		if errors.Is(err, broken) {
			l.Name += " is broken"
		}
		got = append(got, l.Name)
	}
	checkError(t, "Verify", s.Verify(background, report), broken, "")
	checkDiff(t, "reports", []string{"t000", "t001 is broken", "t002"}, got)
	ctx, cancel := context.WithCancel(background)
	src.before = func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
		if name == "t001" {
			cancel()
		}
		return 0, ctx.Err(), name == "t001"
	}
	got = nil
	checkError(t, "Verify", s.Verify(ctx, report), context.Canceled, "")
	checkDiff(t, "reports", []string{"t000"}, got)
}

// A failed read, or an early end of the file, is reported, whichever of the two reads it is.
func TestVerifyOfUnreadableTables(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	for fault, kind := range map[error]error{broken: broken, io.EOF: nil} {
		for good := range int64(2) {
			src.before = nil
			s := open(t, m, src, nil)
			src.reads.Store(0)
			src.before = func(context.Context, string, []byte, int64) (int, error, bool) {
				return 0, fault, src.reads.Load() > good
			}
			checkError(t, fmt.Sprintf("%v after %d reads: Verify", fault, good), s.Verify(background, nil), kind, `"t000"`)
		}
	}
}

// Close ends Verify, which returns what it has found.
func TestVerifyOfAClosedSet(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 3, filtered)
	src.files["t000"] = bytes.Clone(src.files["t000"])
	src.files["t000"][5] ^= 1
	s := open(t, m, src, nil)
	reports := 0
	err := s.Verify(background, func(set.Table, error) { reports++; s.Close() })
	if !errors.Is(err, table.ErrClosed) || !errors.Is(err, table.ErrCorrupt) || reports != 1 {
		t.Errorf("Verify = %v after %d reports, want a corruption and ErrClosed after 1", err, reports)
	}
}

// Describe reads a table twice: for its SHA-256, and to verify it and see its keys.
func TestDescribeReadsTwice(t *testing.T) {
	t.Parallel()
	src := newStore()
	line := src.put(t, "t", &table.WriterOptions{Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10)}, numbered(0, 20_000))
	read := int64(0)
	got, err := set.Describe(tabletest.ReadAtFunc(func(p []byte, off int64) (int, error) {
		read += int64(len(p))
		return bytes.NewReader(src.files["t"]).ReadAt(p, off)
	}), line.Size, nil)
	noError(t, err)
	got.Name = line.Name
	checkDiff(t, "Describe", line, got)
	if read > line.Size*22/10 {
		t.Errorf("Describe reads %d bytes of a table of %d, want twice as many", read, line.Size)
	}
}
