package salvage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

var noError = errtest.NoError

// A data block that looks like an index, a metaindex or properties is treated as data. The real index, metaindex
// and properties are not, whichever part of the table is damaged.
func TestSalvageRecognizesData(t *testing.T) {
	t.Parallel()
	for name, entry := range map[string]func(i int) (key, value string){
		"values like handles":   func(i int) (string, string) { return fmt.Sprintf("key%06d", i), fmt.Sprintf("%c%c", 65+i%26, 66+i%25) },
		"keys like properties":  func(i int) (string, string) { return fmt.Sprintf("sievetable.k%06d", i), fmt.Sprint("some value ", i) },
		"keys like meta blocks": func(i int) (string, string) { return fmt.Sprintf("filter.k%06d", i), fmt.Sprint("some value ", i) },
		"numbers for values": func(i int) (string, string) {
			return fmt.Sprintf("key%06d", i), string(binary.AppendUvarint(nil, uint64(i)))
		},
		"an entry in each block": func(i int) (string, string) { return fmt.Sprintf("key%06d", i), strings.Repeat("\x00A", 2000+i) },
		"two numbers, and in order": func(i int) (string, string) {
			return fmt.Sprintf("key%06d", i), string(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(100*i)), 50))
		},
	} {
		var all []string
		for i := range 2000 {
			key, value := entry(i)
			all = append(all, key, value)
		}
		contents := tableOf(t, table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Properties: true}, all)
		contents[5] ^= 0xff // in the first data block
		contents[len(contents)-1] ^= 0xff
		var got []string
		for p := range salvaged(t, contents).Pairs() {
			got = append(got, string(p.Key), string(p.Value))
		}
		if n := len(all) - len(got); n < 2 || n > 1400 || !slices.Equal(got, all[n:]) {
			t.Errorf("%s: %d keys and values, want all but those of the first block", name, len(got))
		}
	}
}

// From a table with one data block, only the pairs of that block are salvaged, whatever is damaged and wherever the
// block is in the file.
func TestSalvageInventsNothing(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 100 {
		pairs = append(pairs, fmt.Sprintf("user%03d", i), fmt.Sprint("v", i))
	}
	for name, o := range map[string]table.WriterOptions{
		"plain": {}, "filters": {FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10)}, "properties": {Properties: true, FilterPolicy: filter.NewBloom(10)},
	} {
		sound := tableOf(t, o, pairs)
		for damage, tt := range map[string]struct {
			do   func(c []byte) []byte
			want int
		}{
			"data, no footer":  {func(c []byte) []byte { c[100] ^= 1; clear(c[len(c)-48:]); return c }, 0},
			"data, cut":        {func(c []byte) []byte { c[100] ^= 1; return c[:len(c)-20] }, 0},
			"data longer":      {func(c []byte) []byte { c[len(c)-1] ^= 1; return slices.Insert(c, 3, 'a', 'b', 'c') }, 0},
			"data and footer":  {func(c []byte) []byte { c[100] ^= 1; c[len(c)-1] ^= 1; return c }, 0},
			"footer":           {func(c []byte) []byte { c[len(c)-1] ^= 1; return c }, 100},
			"moved, footer":    {func(c []byte) []byte { c[len(c)-1] ^= 1; return append([]byte("#######"), c...) }, 100},
			"footer cut off":   {func(c []byte) []byte { return c[:len(c)-48] }, 100},
			"footer cut short": {func(c []byte) []byte { return c[:len(c)-10] }, 100},
		} {
			if n := read(salvaged(t, tt.do(bytes.Clone(sound)))); n != tt.want {
				t.Errorf("%s, %s: %d pairs, want %d", name, damage, n, tt.want)
			}
		}
	}
}

// If another table follows, or pages have moved, the indexes, metaindexes and properties in the middle of the file are
// no data.
func TestSalvageInventsNothingInTheMiddle(t *testing.T) {
	t.Parallel()
	pairs := map[string]string{}
	var some [][]string
	for _, n := range []int{10, 1000} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf("user%06d", i), fmt.Sprint("some value ", i))
			pairs[all[2*i]] = all[2*i+1]
		}
		some = append(some, all)
	}
	for name, o := range map[string]table.WriterOptions{
		"plain": {}, "filters": {FilterPolicy: filter.NewBloom(10)}, "properties": {Properties: true, FilterPolicy: filter.NewBloom(10)},
	} {
		few, many := tableOf(t, o, some[0]), tableOf(t, o, some[1])
		last := len(many) / 4096 * 4096
		for damage, tt := range map[string]struct {
			contents []byte
			want     int
		}{
			"two tables":       {slices.Concat(many, few, []byte("#")), 1010},
			"a start follows":  {slices.Concat(few, many[:last]), 400},
			"the end is twice": {slices.Concat(many, many[last:], []byte("#")), 1000},
			"moved pages":      {slices.Concat(many[last:], many[4096:last], many[:4096]), 600},
		} {
			n := 0
			for p := range salvaged(t, tt.contents).Pairs() {
				if n++; pairs[string(p.Key)] != string(p.Value) {
					t.Errorf("%s, %s: %q, %q was invented", name, damage, p.Key, p.Value)
				}
			}
			if n < tt.want {
				t.Errorf("%s, %s: %d pairs, want at least %d", name, damage, n, tt.want)
			}
		}
	}
}

// From a table without entries, nothing is salvaged: its metaindex has entries, but its index has none.
func TestSalvageOfEmptyTables(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]table.WriterOptions{
		"plain": {}, "filters": {FilterPolicy: filter.NewBloom(10)}, "properties": {Properties: true}, "digest": {DataDigest: true},
	} {
		sound := tableOf(t, o, nil)
		for damage, c := range map[string][]byte{
			"footer cut off": sound[:len(sound)-48], "footer cut short": sound[:len(sound)-10],
			"footer": append(sound[:len(sound)-1:len(sound)-1], 0), "more bytes": append(sound[:len(sound):len(sound)], make([]byte, 100)...),
		} {
			if n := read(salvaged(t, c)); n != 0 {
				t.Errorf("%s, %s: %d pairs, want none", name, damage, n)
			}
		}
	}
}

// A data block that looks like a metaindex or an index is treated as data if the table also has a real one.
func TestSalvageRecognizesFewBlocks(t *testing.T) {
	t.Parallel()
	var files []string
	for i := range 200 {
		files = append(files, fmt.Sprintf("file%04d", i), string(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(305*i)), 300)))
	}
	for name, pairs := range map[string][]string{
		"filters": {"filter.a", "on", "filter.b", "no", "filter.c", "ok"},
		"records": files,
		"one":     {"a", "\x00A"},
	} {
		contents := tableOf(t, table.WriterOptions{FilterPolicy: filter.NewBloom(10)}, pairs)
		contents[len(contents)-1] ^= 1
		if n := read(salvaged(t, contents)); n != len(pairs)/2 {
			t.Errorf("%s: %d pairs, want %d", name, n, len(pairs)/2)
		}
	}
}

// One damaged byte in a large block loses only that block, and the search ends quickly.
func TestSalvageOfLargeBlocks(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 50_000 {
		pairs = append(pairs, fmt.Sprintf("%08d", i), fmt.Sprint(i))
	}
	contents := tableOf(t, table.WriterOptions{Compression: table.NoCompression, BlockSize: 256 << 10}, pairs)
	contents[len(contents)-1] ^= 1
	contents[bytes.Index(contents, []byte("14000"))+2]++ // in the first block
	first := 0
	for p := range salvaged(t, contents).Pairs() {
		if first, _ = strconv.Atoi(string(p.Key)); first > 0 {
			break
		}
	}
	if first < 14_000 || first > 30_000 {
		t.Errorf("first pair is %d, want that of the second block", first)
	}
}

// tableOf returns a table of keys and values.
func tableOf(t *testing.T, o table.WriterOptions, keysAndValues []string) []byte {
	t.Helper()
	var pairs []workload.Pair
	for kv := range slices.Chunk(keysAndValues, 2) {
		pairs = append(pairs, workload.Pair{Key: []byte(kv[0]), Value: []byte(kv[1])})
	}
	return tabletest.Build(t, &o, pairs)
}

// salvaged salvages a table.
func salvaged(t *testing.T, contents []byte) *Salvage {
	t.Helper()
	f, err := dbfile.OpenDamaged(filetest.Write(t, "t.ldb", contents), dbfile.Options{})
	noError(t, err)
	t.Cleanup(func() { f.Close() })
	s, err := Open(f, dbfile.Auto)
	noError(t, err)
	return s
}
