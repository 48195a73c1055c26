package table_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// With any number of goroutines the file has the same bytes.
func TestPrefixesWithConcurrency(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, 4096} {
		var pairs []workload.Pair
		for i := range 20_000 {
			pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "%04d/%06d", i/50, i), Value: bytes.Repeat([]byte("value"), 3)})
		}
		o := table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), FilterPrefix: table.PrefixUntil("/"), BlockSize: size}
		alone := build(t, &o, pairs)
		o.Concurrency = 4
		if !bytes.Equal(alone, build(t, &o, pairs)) {
			t.Errorf("blocks of %d bytes: other bytes with 4 goroutines", size)
		}
	}
}

// A recorder is a Policy and a TablePolicy whose filters are the keys that were added, each before a "|".
type recorder struct{ name string }

func (p recorder) Name() string                             { return p.name }
func (p recorder) NewGenerator() filter.Generator           { return new(recording) }
func (recorder) Contains(f, key []byte) bool                { return bytes.Contains(f, append(key, '|')) }
func (p recorder) NewTableGenerator() filter.TableGenerator { return tableRecording{new(recording)} }
func (recorder) Open(f []byte) (filter.TableFilter, error)  { return recorded(f), nil }

type recorded []byte

func (f recorded) Contains(key []byte) bool { return bytes.Contains(f, append(key, '|')) }

type recording struct{ keys []byte }

func (r *recording) Add(key []byte) { r.keys = append(append(r.keys, key...), '|') }

func (r *recording) Generate(b filter.Buffer) {
	copy(b.Alloc(len(r.keys)), r.keys)
	r.keys = nil
}

type tableRecording struct{ *recording }

func (r tableRecording) Generate() ([]byte, error) { return r.keys, nil }

// The table filter holds each prefix once, and so does each filter of the filter block, also if it has
// the keys of several data blocks.
func TestEachFilterHoldsAPrefixOnce(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a/1", "a/2", "a/3", "b/", "b/1", "c", "d/1", "d/2")
	for _, tt := range []struct {
		name         string
		size, baseLg int
		want         []string
	}{
		{"a filter for each data block", 1, 1, []string{"a/|a/1|", "a/|a/2|", "a/|a/3|", "b/|b/|", "b/|b/1|", "c|", "d/|d/1|", "d/|d/2|"}},
		{"a filter for all data blocks", 1, 20, []string{"a/|a/1|a/2|a/3|b/|b/|b/1|c|d/|d/1|d/2|"}},
		{"one data block", 4096, 11, []string{"a/|a/1|a/2|a/3|b/|b/|b/1|c|d/|d/1|d/2|"}},
	} {
		for concurrency := 1; concurrency <= 2; concurrency++ {
			p := recorder{"recorder"}
			o := table.WriterOptions{
				FilterPolicy: p, TableFilterPolicy: p, FilterPrefix: table.PrefixUntil("/"), BlockSize: tt.size, FilterBaseLg: tt.baseLg, Concurrency: concurrency,
			}
			r := open(t, build(t, &o, pairs), &table.ReaderOptions{FilterPolicies: []filter.Policy{p}, TableFilterPolicies: []filter.TablePolicy{p}})
			f := r.Filters()
			var got []string
			for i := range f.Blocks.Len() {
				if keys := string(f.Blocks.Filter(i)); keys != "" {
					got = append(got, keys)
				}
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("%s, concurrency %d: filters by blocks have %q, want %q", tt.name, concurrency, got, tt.want)
			}
			if got, want := string(f.Table.(recorded)), "a/|a/1|a/2|a/3|b/|b/|b/1|c|d/|d/1|d/2|"; got != want {
				t.Errorf("%s: the table filter has %q, want %q", tt.name, got, want)
			}
			if p, err := r.Properties(); err != nil || p.FilterEntries != 11 || p.FilterPrefix != "sievetable.prefix.delimiter:/" {
				t.Errorf("%s: Properties = %+v, %v", tt.name, p, err)
			}
		}
	}
}
