package table_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// The number of keys in a forged table can be any.
func TestFilterUnionOfTooManyKeys(t *testing.T) {
	t.Parallel()
	forged := forgedFilter(t, rawtable.Entries("a", ""), math.MaxUint64)
	p, err := filterReader(t, unionOf(t, filterReader(t, forged), filterReader(t, forged))).Properties()
	if err != nil || p.FilterEntries != math.MaxInt {
		t.Errorf("%+v, %v", p, err)
	}
}

// Exceptions that would take far more memory than the file are an error.
func TestFilterUnionOfLongExceptions(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var u table.FilterUnion
	if err := u.Add(filterReader(t, forgedFilter(t, longRun(strings.Repeat("k", 1<<20), 20_000), 1))); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := u.Write(&out); err == nil || !strings.Contains(err.Error(), "over 320 times as long as their block") || out.Len() > 0 {
		t.Errorf("%d bytes, error %v", out.Len(), err)
	}
}

// forgedFilter returns a table with a filter only, that block of exceptions, and that number of keys.
func forgedFilter(t *testing.T, never string, keys uint64) []byte {
	t.Helper()
	g := filter.NewTableBloom(10).NewTableGenerator()
	g.Add([]byte("a"))
	bloom, err := g.Generate()
	if err != nil {
		t.Fatal(err)
	}
	var f rawtable.File
	whole, exceptions := f.Block(string(bloom)), f.Block(never)
	properties := f.Block(rawtable.Entries("rocksdb.filter.policy", "rocksdb.BuiltinBloomFilter",
		"rocksdb.num.filter_entries", string(binary.AppendUvarint(nil, keys)), "sievetable.filter.only", "\x01"))
	meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "rocksdb.properties", properties, "sievetable.never", exceptions))
	return f.Footer(meta, f.Block(rawtable.Entries()))
}

// A union does not use the bytes of a source after Add.
func TestFilterUnionKeepsNoSource(t *testing.T) {
	t.Parallel()
	sound, contents := filterWithExceptions(t)
	want := unionOf(t, sound)
	r, err := table.NewReader(table.Bytes(contents), int64(len(contents)), nil)
	if err != nil {
		t.Fatal(err)
	}
	var u table.FilterUnion
	if err := u.Add(r); err != nil {
		t.Fatal(err)
	}
	clear(contents)
	var out bytes.Buffer
	if err := u.Write(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("another union, error %v", err)
	}
}

// A table that has no union with those before is refused, and the others still have one.
func TestFilterUnionRefuses(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	first, want := filterTable(t, o, "a")
	larger, fewerBits, reversed, prefixed, other := o, o, o, o, o
	larger.TableFilterPolicy = filter.NewTableBloom(10).SizedFor(1000)
	fewerBits.TableFilterPolicy = filter.NewTableBloom(3)
	reversed.Comparer = tableReverse{table.BytewiseComparer}
	prefixed.FilterPrefix = table.PrefixUntil("/")
	other.TableFilterPolicy = renamed{filter.NewTableBloom(10)}
	filterOnly := func(o table.WriterOptions) []byte {
		_, contents := filterTable(t, o, "b")
		return contents
	}
	withEntries := o
	withEntries.Properties = true
	pairs := []workload.Pair{{Key: []byte("b")}}
	var u table.FilterUnion
	if err := u.Add(first); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, want string
		contents   []byte
	}{
		{"size", "lines with k = 6, want equal sizes and k", filterOnly(larger)},
		{"k", "lines with k = 2, want equal sizes and k", filterOnly(fewerBits)},
		{"Comparer", `Comparer "reverse", but "leveldb.BytewiseComparator" in the first table`, filterOnly(reversed)},
		{"FilterPrefix", `FilterPrefix "sievetable.prefix.delimiter:/", but "" in the first table`, filterOnly(prefixed)},
		{"policy", `filter policy "other", want rocksdb.BuiltinBloomFilter`, filterOnly(other)},
		{"entries", "want tables with a filter only", build(t, &withEntries, pairs)},
		{"entries and no properties", "want tables with a filter only", build(t, &o, pairs)},
		{"nothing", "want tables with a filter only", build(t, nil, nil)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := u.Add(filterReader(t, tt.contents)); !errors.Is(err, table.ErrNoUnion) || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want one with %q", err, tt.want)
			}
		})
	}
	var out bytes.Buffer
	if err := u.Write(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%d bytes, want those of the first table; %v", out.Len(), err)
	}
	if err := new(table.FilterUnion).Write(&out); err == nil {
		t.Error("the union of no tables is written")
	}
}

// filterWithExceptions is filterTable of a table that has exceptions.
func filterWithExceptions(t *testing.T) (*table.Reader, []byte) {
	t.Helper()
	contents, _, _ := withNever(t, 20, table.WriterOptions{FilterOnly: true})
	return filterReader(t, contents), contents
}

// A damaged table is an error, or makes no difference.
func TestFilterUnionOfDamagedTables(t *testing.T) {
	t.Parallel()
	sound, contents := filterWithExceptions(t)
	want := unionOf(t, sound)
	refused := 0
	for i := range contents {
		damaged := bytes.Clone(contents)
		damaged[i] ^= 0x41
		r, err := table.NewReader(bytes.NewReader(damaged), int64(len(damaged)), nil)
		var u table.FilterUnion
		if err == nil {
			err = u.Add(r)
		}
		if err != nil {
			refused++
			continue
		}
		var out bytes.Buffer
		if err := u.Write(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("damage at %d of %d: another union, error %v", i, len(contents), err)
		}
	}
	if unseen := len(contents) - refused; unseen > 48 { // the footer has bytes that mean nothing
		t.Errorf("%d of %d damaged tables are united", unseen, len(contents))
	}
}
