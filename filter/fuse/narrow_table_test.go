package fuse_test

import (
	"bytes"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/tablefile"
	"github.com/sievetable/sievetable/table"
)

// listedKeys yields n keys that no table of this file has, in order.
func listedKeys(n int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for i := 0; i < n && yield(fmt.Appendf(nil, "never%06d", i), nil); i++ {
		}
	}
}

// narrowKey returns key i of a table of n. The last one is after all listed keys.
func narrowKey(i, n int) []byte {
	if i == n-1 {
		return []byte("z")
	}
	return fmt.Appendf(nil, "key%06d", i)
}

// narrowTable returns a table of n keys.
func narrowTable(t testing.TB, o *table.WriterOptions, n int) []byte {
	t.Helper()
	var out bytes.Buffer
	writePairs(t, &out, o, n, func(i int) (key, value []byte) { return narrowKey(i, n), nil })
	return out.Bytes()
}

// passes reports whether a key passes the filter.
func passes(r *table.Reader, key []byte) bool {
	may, err := r.MayContain(key)
	return may || err != nil
}

// passing returns the shares of n listed keys, and of n other absent keys, that pass the filter.
func passing(r *table.Reader, n int) (listed, others float64) {
	for key := range listedKeys(n) {
		if passes(r, key) {
			listed++
		}
		if passes(r, append(key, '~')) {
			others++
		}
	}
	return listed, others
}

// A Reader keeps at most its policy's bits, and rules out the same keys as the narrowed filter. With Never it keeps
// all bits, even if there are no exceptions.
func TestReaderNarrowsFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n, absent = 20_000, 100_000
	for _, bits := range allBits {
		for name, c := range map[string]table.WriterOptions{
			"plain":                   {},
			"filter only":             {FilterOnly: true},
			"an empty list":           {Never: listedKeys(0)},
			"few listed":              {Never: listedKeys(10)},
			"listed all":              {Never: listedKeys(absent)},
			"filter only, listed all": {Never: listedKeys(absent), FilterOnly: true},
		} {
			t.Run(fmt.Sprintf("%s/bits=%d", name, bits), func(t *testing.T) {
				t.Parallel()
				c.TableFilterPolicy = newPolicy(t, bits)
				contents, want := narrowTable(t, &c, n), bits
				if c.Never == nil {
					want = min(bits, 8)
				}
				r, _ := readTable(t, contents, atMost(t, fuse.Policy{}, 8))
				checkNarrowReader(t, r, n, want)
				listed, others := passing(r, absent)
				if strings.HasSuffix(name, " all") && listed > 0 {
					t.Errorf("%v of the first %d keys after %q pass", listed, absent, "never")
				}
				rate := math.Exp2(-float64(want)) * absent
				if math.Abs(others-rate) > 5*math.Sqrt(rate) {
					t.Errorf("%v of %d absent keys pass, want about %.0f", others, absent, rate)
				}
			})
		}
	}
}

// Except finds the exceptions of the filter as stored, however many bits the Reader keeps. Readers of the result
// keep all bits.
func TestExceptWithNarrowedFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	const n, listed = 20_000, 50_000
	for _, filterOnly := range []bool{false, true} {
		for _, list := range []int{0, listed} {
			plain := table.WriterOptions{TableFilterPolicy: newPolicy(t, 12), FilterOnly: filterOnly}
			c := plain
			c.Never = listedKeys(list)
			contents := narrowTable(t, &plain, n)
			r, _ := readTable(t, contents, atMost(t, fuse.Policy{}, 4))
			checkNarrowReader(t, r, n, 4)
			var out bytes.Buffer
			if _, err := r.Except(&out, listedKeys(list)); err != nil || !bytes.Equal(out.Bytes(), narrowTable(t, &c, n)) {
				t.Errorf("%d listed, filter only %v: %v, or another table than with Never", list, filterOnly, err)
			}
		}
	}
}

// checkNarrowReader checks that a Reader has all n keys, and a filter of that many bits.
func checkNarrowReader(t *testing.T, r *table.Reader, n, bits int) {
	t.Helper()
	if size := int64(newPolicy(t, bits).Size(n)); r.Filters().TableSize != size || r.FilterErr() != nil || r.Verify() != nil {
		t.Errorf("the filter takes %d bytes, want %d; FilterErr %v, Verify %v", r.Filters().TableSize, size, r.FilterErr(), r.Verify())
	}
	for i := range n {
		if key := narrowKey(i, n); !passes(r, key) {
			t.Fatalf("%s is denied", key)
		}
	}
}

// Filters in memory or in a mapped file are not narrowed, since a copy would take more memory.
func TestFiltersInMemoryAreNotNarrowed(t *testing.T) {
	t.Parallel()
	const n = 1000
	contents := narrowTable(t, &table.WriterOptions{TableFilterPolicy: newPolicy(t, 16)}, n)
	name := filepath.Join(t.TempDir(), "t.ldb")
	noError(t, os.WriteFile(name, contents, 0o666))
	o := &table.ReaderOptions{TableFilterPolicies: []filter.TablePolicy{atMost(t, fuse.Policy{}, 4)}, Mapped: true}
	r, err := table.NewReader(table.Bytes(contents), int64(len(contents)), o)
	noError(t, err)
	checkNarrowReader(t, r, n, 16)
	if r, err = table.Open(name, o); err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if f, err := os.Open(name); err == nil && tablefile.Map(f, int64(len(contents))) != nil {
		checkNarrowReader(t, r, n, 16)
		f.Close()
	}
}

// A corrupt filter is neither narrowed nor used. With corrupt exceptions, the filter is not narrowed either.
func TestCorruptFiltersAreNotNarrowed(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		block string // that is corrupted
		want  string // in FilterErr
		size  int    // bits of the filter; 0: it is not used
	}{
		"the filter":     {"fullfilter.binaryfuse", "filter with fingerprints of 255 bits", 0},
		"the exceptions": {"sievetable.never", "exceptions block", 16},
	} {
		t.Run(name, func(t *testing.T) {
			contents := narrowTable(t, &table.WriterOptions{TableFilterPolicy: newPolicy(t, 16), Never: listedKeys(300_000)}, 1000)
			for _, m := range metaOf(t, contents) {
				if m.Name == tt.block {
					contents[m.Offset+m.Length-1] = 255
				}
			}
			rawtable.Repair(contents)
			r, _ := readTable(t, contents, atMost(t, fuse.Policy{}, 4))
			want := 0
			if tt.size > 0 {
				want = newPolicy(t, tt.size).Size(1000)
			}
			if err := r.FilterErr(); err == nil || !strings.Contains(err.Error(), tt.want) || r.Filters().TableSize != int64(want) {
				t.Errorf("FilterErr returns %v, want %q in it; the filter takes %d bytes, want %d", err, tt.want, r.Filters().TableSize, want)
			}
		})
	}
}

// Verify checks the filter in the file: it finds fingerprints in which only bits above the limit are wrong.
func TestVerifyChecksTheWideFilter(t *testing.T) {
	t.Parallel()
	const n = 1000
	contents := narrowTable(t, &table.WriterOptions{TableFilterPolicy: newPolicy(t, 16)}, n)
	h := metaOf(t, contents)[0].Handle
	for i := h.Offset + 1; i < h.Offset+h.Length-14; i += 2 {
		contents[i] ^= 0xff // the upper byte of a fingerprint
	}
	rawtable.Repair(contents)
	r, _ := readTable(t, contents, atMost(t, fuse.Policy{}, 8))
	if err := r.Verify(); !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "rules out") {
		t.Errorf("Verify returns %v, want denied keys", err)
	}
	for i := range n {
		if key := narrowKey(i, n); !passes(r, key) {
			t.Fatalf("%s is denied, though its 8 bits are right", key)
		}
	}
}
