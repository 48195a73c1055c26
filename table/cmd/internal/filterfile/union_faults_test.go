package filterfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/filtertest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
)

// A forged table can claim any number of keys.
func TestUnionOfTooManyKeys(t *testing.T) {
	t.Parallel()
	forged := forgedFilter(t, rawtable.Entries("a", ""), math.MaxUint64)
	contents, _ := unionOf(t, forged, forged)
	p, err := read(t, contents).Properties()
	if err != nil || p.FilterEntries != math.MaxUint64 {
		t.Errorf("%+v, %v", p, err)
	}
}

// Exceptions that would take far more memory than the file are an error.
func TestUnionOfLongExceptions(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	var u union
	err := u.add(read(t, forgedFilter(t, longRun(strings.Repeat("k", 1<<20), 20_000), 1)))
	if err == nil || !strings.Contains(err.Error(), "over 320 times as long as their block") || u.tables != nil {
		t.Errorf("%d tables, error %v", len(u.tables), err)
	}
}

// longRun returns a block with a key, and n more keys that extend it by a number.
func longRun(key string, n int) string {
	var b strings.Builder
	b.WriteString(rawtable.Entry(0, key, ""))
	for i := range n {
		number := string(binary.BigEndian.AppendUint32(nil, uint32(i)))
		b.WriteString(rawtable.Entry(uint64(len(key)), number, ""))
	}
	return b.String() + rawtable.Restarts(0)
}

// forgedFilter returns a filter-only table with never as the block of exceptions, and keys as the number of keys.
func forgedFilter(t *testing.T, never string, keys uint64) []byte {
	t.Helper()
	bloom := filtertest.BuildTable(t, filter.NewTableBloom(10), "a")
	var f rawtable.File
	whole, exceptions := f.Block(string(bloom)), f.Block(never)
	properties := f.Block(rawtable.Entries("rocksdb.filter.policy", "rocksdb.BuiltinBloomFilter",
		"rocksdb.num.filter_entries", string(binary.AppendUvarint(nil, keys)), "sievetable.filter.only", "\x01"))
	meta := f.Block(rawtable.Entries("fullfilter.rocksdb.BuiltinBloomFilter", whole, "rocksdb.properties", properties, "sievetable.never", exceptions))
	return f.Footer(meta, f.Block(rawtable.Entries()))
}

// A union does not use a table's bytes after add.
func TestUnionKeepsNoSource(t *testing.T) {
	t.Parallel()
	contents := filterWithExceptions(t)
	want, _ := unionOf(t, contents)
	r, err := table.NewReader(table.Bytes(contents), int64(len(contents)), nil)
	noError(t, err)
	var u union
	noError(t, u.add(r))
	clear(contents)
	var out bytes.Buffer
	if err := u.write(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("another union, error %v", err)
	}
}

// A table that cannot be merged is rejected, and the others can still be merged.
func TestUnionRefuses(t *testing.T) {
	t.Parallel()
	o := table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}
	want := filterTable(t, o, "a")
	larger, fewerBits, reversed, prefixed, other := o, o, o, o, o
	larger.TableFilterPolicy = filter.NewTableBloom(10).SizedFor(1000)
	fewerBits.TableFilterPolicy = filter.NewTableBloom(3)
	reversed.Comparer = reverse
	prefixed.FilterPrefix = filter.PrefixUntil("/")
	other.TableFilterPolicy = renamed{filter.NewTableBloom(10)}
	filterOnly := func(o table.WriterOptions) []byte { return filterTable(t, o, "b") }
	withEntries := o
	withEntries.Properties = true
	var u union
	noError(t, u.add(read(t, want)))
	for _, tt := range []struct {
		name, want string
		contents   []byte
	}{
		{"size", "lines with k = 6: sizes and k must be equal", filterOnly(larger)},
		{"k", "lines with k = 2: sizes and k must be equal", filterOnly(fewerBits)},
		{"Comparer", `Comparer is "reverse", but "leveldb.BytewiseComparator" in the first file`, filterOnly(reversed)},
		{"FilterPrefix", `FilterPrefix is "sievetable.prefix.delimiter:/", but "" in the first file`, filterOnly(prefixed)},
		{"policy", `the filter policy is "other", not rocksdb.BuiltinBloomFilter`, filterOnly(other)},
		{"entries", "the table has entries", build(t, withEntries, "b")},
		{"entries and no properties", "the table has entries", build(t, o, "b")},
		{"nothing", "the table has entries", build[string](t, table.WriterOptions{})},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := u.add(read(t, tt.contents)); !errors.Is(err, errNoUnion) || errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, want one with %q", err, tt.want)
			}
		})
	}
	var out bytes.Buffer
	if err := u.write(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("%d bytes, want those of the first table; %v", out.Len(), err)
	}
}

func filterWithExceptions(t *testing.T) []byte {
	t.Helper()
	var keys, never []string
	for i := range 200 {
		never = append(never, fmt.Sprint("never", i))
		if i < 20 {
			keys = append(keys, fmt.Sprint("key", i))
		}
	}
	contents := filterTable(t, table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(1), Never: neverOf(never, nil)}, keys...)
	if read(t, contents).Filters().Never.Len() == 0 {
		t.Fatal("the table has no exceptions")
	}
	return contents
}

// A damaged table is rejected, or the damage does not change the union.
func TestUnionOfDamagedTables(t *testing.T) {
	t.Parallel()
	contents := filterWithExceptions(t)
	want, _ := unionOf(t, contents)
	refused := 0
	for i := range contents {
		damaged := bytes.Clone(contents)
		damaged[i] ^= 0x41
		r, err := table.NewReader(bytes.NewReader(damaged), int64(len(damaged)), nil)
		var u union
		if err == nil {
			err = u.add(r)
		}
		if err != nil {
			refused++
			continue
		}
		var out bytes.Buffer
		if err := u.write(&out); err != nil || !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("damage at %d of %d: another union, error %v", i, len(contents), err)
		}
	}
	if unseen := len(contents) - refused; unseen > 48 { // the footer has unused bytes
		t.Errorf("%d of %d damaged tables are united", unseen, len(contents))
	}
}
