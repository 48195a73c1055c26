package paged_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// spoilLastPage corrupts the last page, and fixes the block's checksum but not the page's.
func (p *pagedTable) spoilLastPage(t *testing.T) {
	t.Helper()
	last := filterIn(t, p.contents)
	p.contents[last.Offset+last.Length-paged.TrailerSize-1] ^= 1
	rawtable.Repair(p.contents)
}

// Verify finds a page with a wrong checksum even if the checksum of the filter's block is valid.
func TestVerifyFindsCorruptPages(t *testing.T) {
	t.Parallel()
	for _, filterOnly := range []bool{false, true} {
		p := newPagedTable(t, rand.New(rand.NewPCG(55, 1)), 6000, filterOnly)
		p.spoilLastPage(t)
		r := p.open(t, bytes.NewReader(p.contents), table.ReaderOptions{}, paged.Policy{})
		if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("filter only %v: Verify = %v", filterOnly, err)
		}
		l, err := r.Layout()
		noError(t, err)
		if filters, err := l.Filters(); filters.Table != nil || filters.Pages != nil || !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("filter only %v: Filters of the layout = %+v, %v", filterOnly, filters, err)
		}
	}
}

// A flakyFS has files of which only one page can be read until pages is 0 again.
type flakyFS struct {
	fstest.MapFS
	pages *int
}

// A flakyFile is a file of a flakyFS.
type flakyFile struct {
	fs.File
	pages *int
}

func (f flakyFS) Open(name string) (fs.File, error) {
	file, err := f.MapFS.Open(name)
	return flakyFile{file, f.pages}, err
}

func (f flakyFile) ReadAt(p []byte, off int64) (int, error) {
	if len(p) == paged.PageSize {
		if *f.pages++; *f.pages > 1 {
			return 0, errDead
		}
	}
	return f.File.(io.ReaderAt).ReadAt(p, off)
}

// With a wrong FilterKey, a Reader still finds all keys, even if it cannot read pages when it validates the filter.
func TestWrongFilterKeyAndPagesThatCannotBeRead(t *testing.T) {
	t.Parallel()
	p := newPagedTable(t, rand.New(rand.NewPCG(56, 1)), 3000, false)
	pages := 0
	r, err := table.OpenFS(flakyFS{fstest.MapFS{"t.ldb": {Data: p.contents}}, &pages}, "t.ldb", &table.ReaderOptions{
		TableFilterPolicies: []filter.TablePolicy{paged.Policy{}},
		FilterKey:           func(key []byte) []byte { return append([]byte("wrong"), key...) },
	})
	noError(t, err)
	defer r.Close()
	for key := range p.keys {
		pages = 0
		if _, err := r.Get([]byte(key)); err != nil {
			t.Fatalf("Get(%s) = %v", key, err)
		}
	}
	pages = -100
	if err := r.FilterErr(); err == nil {
		t.Error("FilterErr = nil")
	}
	if f := r.Filters(); f.Table != nil || f.Pages != nil || f.Blocks != nil {
		t.Errorf("Filters = %+v, though none is in use", f)
	}
}

// In a filter-only table, an error of the source ends GetMany: it reads no further page.
func TestGetManyEndsWithTheSource(t *testing.T) {
	t.Parallel()
	p := newPagedTable(t, rand.New(rand.NewPCG(58, 1)), 30_000, true)
	src := &faultySource{Reader: bytes.NewReader(p.contents)}
	r := p.open(t, src, table.ReaderOptions{}, paged.Policy{})
	src.fails.Store(true)
	before, unanswered := src.reads.Load(), map[int]int{}
	o := table.GetManyOptions{Concurrency: 1, NoAnswer: func(i int, _ error) { unanswered[i]++ }}
	err := r.GetMany(t.Context(), p.all, &o, nil)
	if reads := src.reads.Load() - before; !errors.Is(err, errDead) || strings.Contains(err.Error(), "\n") || reads != 2 {
		t.Errorf("GetMany = %.300v after %d reads, want one error of the pages together and of the first", err, reads)
	}
	for i := range p.all {
		if unanswered[i] != 1 {
			t.Fatalf("NoAnswer was called %d times for key %d", unanswered[i], i)
		}
	}
}

// A closingSource closes a Reader at the next read.
type closingSource struct {
	*bytes.Reader
	closes atomic.Pointer[table.Reader]
}

func (s *closingSource) ReadAt(p []byte, off int64) (int, error) {
	if r := s.closes.Swap(nil); r != nil {
		r.Close()
		return 0, table.ErrClosed
	}
	return s.Reader.ReadAt(p, off)
}

// A Reader that is closed while GetMany reads pages is one error, also if other keys have passed the filter by then.
func TestGetManyReportsCloseOnce(t *testing.T) {
	t.Parallel()
	for _, filterOnly := range []bool{false, true} {
		p := newPagedTable(t, rand.New(rand.NewPCG(60, 1)), 6000, filterOnly)
		src := &closingSource{Reader: bytes.NewReader(p.contents)}
		r := p.open(t, src, table.ReaderOptions{Cache: table.NewCache(1 << 20)}, paged.Policy{})
		_, _ = r.MayContain(p.all[0]) // reads its page
		src.closes.Store(r)
		err := r.GetMany(t.Context(), p.all, nil, func(int, []byte) error { return nil })
		if !errors.Is(err, table.ErrClosed) || strings.Contains(err.Error(), "\n") {
			t.Errorf("filter only %v: GetMany = %v, want ErrClosed once", filterOnly, err)
		}
	}
}

// GetMany counts lookups and false positives as Get does, also for keys without a filter key and for corrupt pages.
func TestGetManyCountsAsGetDoes(t *testing.T) {
	t.Parallel()
	for _, filterOnly := range []bool{false, true} {
		p := newPagedTable(t, rand.New(rand.NewPCG(59, 1)), 6000, filterOnly)
		p.spoilLastPage(t)
		for name, src := range map[string]io.ReaderAt{"read": bytes.NewReader(p.contents), "handed out": table.Bytes(p.contents)} {
			get := p.counts(t, src, func(r *table.Reader) {
				for _, key := range p.all {
					_, _ = r.Get(key)
				}
			})
			many := p.counts(t, src, func(r *table.Reader) {
				_ = r.GetMany(t.Context(), p.all, nil, func(int, []byte) error { return nil })
			})
			if many != get {
				t.Errorf("%s, filter only %v: GetMany counts %v, and Get %v", name, filterOnly, many, get)
			}
		}
	}
}

// lookupCounts are the Metrics of lookups and the number of calls of OnFalsePositive.
type lookupCounts struct{ lookups, checks, negatives, falsePositives, pageErrors, reported uint64 }

// counts returns the counts of lookups, some of them for keys without a filter key.
func (p *pagedTable) counts(t *testing.T, src io.ReaderAt, lookUp func(r *table.Reader)) lookupCounts {
	t.Helper()
	var m table.Metrics
	reported := uint64(0)
	o := table.ReaderOptions{Metrics: &m, OnFalsePositive: func([]byte) { reported++ }}
	o.FilterKey = func(key []byte) []byte {
		if key[len(key)-1] == '7' {
			return nil
		}
		return key
	}
	lookUp(p.open(t, src, o, paged.Policy{}))
	return lookupCounts{m.Lookups.Load(), m.FilterChecks.Load(), m.FilterNegatives.Load(), m.FilterFalsePositives.Load(), m.FilterPageErrors.Load(), reported}
}
