package salvage

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/golang/snappy"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/codecs"
)

// read reads all pairs of a table, and returns their number.
func read(s *Salvage) (n int) {
	for range s.Pairs() {
		n++
	}
	return n
}

// Each pair of an undamaged table is found, with and without the index, however long the keys are.
func TestSalvageOfLongKeys(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for name, tt := range map[string]struct {
		n   int
		key func(i int) string
	}{
		"3 keys of 10 MiB":           {3, func(i int) string { return strings.Repeat("k", 10<<20) + fmt.Sprint(i) }},
		"60 keys that share 1 MiB":   {60, func(i int) string { return fmt.Sprintf("%s%04d", strings.Repeat("k", 1<<20), i) }},
		"2,000 keys that share 4 KB": {2000, func(i int) string { return fmt.Sprintf("%s%04d", strings.Repeat("k", 4000), i) }},
	} {
		var keys []string
		for i := range tt.n {
			keys = append(keys, tt.key(i), "")
		}
		contents := tableOf(t, table.WriterOptions{BlockSize: 512 << 20, RestartInterval: math.MaxInt32}, keys)
		checkWhole(t, name, contents, tt.n)
	}
}

// checkWhole salvages a table of n pairs, as it is and without its footer.
func checkWhole(t *testing.T, name string, contents []byte, n int) {
	t.Helper()
	for _, cut := range []int{0, format.FooterLen} {
		s := salvaged(t, contents[:len(contents)-cut])
		if got := read(s); got != n || len(s.Lost.First) > 0 && cut == 0 {
			t.Errorf("%s, cut by %d bytes: %d pairs, want %d; lost: %v", name, cut, got, n, s.Lost)
		}
	}
}

// Pairs that are out of order or duplicated, under valid checksums, are kept. The caller sorts them.
func TestSalvageKeepsWhatIsOutOfOrder(t *testing.T) {
	t.Parallel()
	var f rawtable.File
	first := f.Block(rawtable.Entries("b", "1", "a", "2", "c", "3", "c", "4"))
	second := f.Block(rawtable.Entries("a", "5"))
	metaindex := f.Block(rawtable.Entries())
	contents := f.Footer(metaindex, f.Block(rawtable.Entries("c", first, "d", second)))
	checkWhole(t, "out of order", contents, 5)
}

// If a table ends after a data block, the pairs of all blocks up to there are found, whatever their values look
// like.
func TestSalvageOfTablesCutAnywhere(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(13, 3))
	for name, value := range map[string]func(i int) string{
		"two letters":        func(i int) string { return fmt.Sprintf("%c%c", 'a'+i%26, 'a'+i%25) },
		"handles in a chain": func(i int) string { return string(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(305*i)), 300)) },
		"one after another":  func(i int) string { return string(binary.AppendUvarint(binary.AppendUvarint(nil, uint64(i)), 1)) },
	} {
		var pairs []string
		for i := range 500 {
			pairs = append(pairs, fmt.Sprintf("key%06d", i), value(i))
		}
		contents := tableOf(t, table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 300, Compression: table.NoCompression}, pairs)
		whole := salvaged(t, contents)
		read(whole)
		blocks, _ := scanned(fileImage{data: contents})
		for i, e := range blocks[:whole.Blocks] {
			behind := 1 + rng.IntN(min(60, blocks[i+1].end-e.end)) // less than the next block
			want := 0
			for _, e := range blocks[:i+1] {
				it, err := (fileImage{data: contents}).open(e)
				noError(t, err)
				want += it.Len()
			}
			if got := read(salvaged(t, contents[:min(len(contents), e.end+format.TrailerLen+behind)])); got != want {
				t.Errorf("%s, cut %d bytes behind block %d: %d pairs, want %d", name, behind, i, got, want)
			}
		}
	}
}

// Blocks that do not look like data blocks are reported, since they may be data.
func TestSalvageNamesWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	var pairs []string
	for i := range 5 {
		pairs = append(pairs, fmt.Sprint("key", i), "\x00\x11") // like a handle
	}
	contents := tableOf(t, table.WriterOptions{Compression: table.NoCompression, BlockSize: 1}, pairs)
	s := salvaged(t, contents[:5*22])
	if n := read(s); n+len(s.LeftOut.First) != 5 || len(s.Lost.First) > 0 {
		t.Errorf("%d pairs, left out: %v, lost: %v", n, s.LeftOut, s.Lost)
	}
	var properties []string
	for i := range 120 {
		properties = append(properties, fmt.Sprintf("rocksdb.num.entries%05d", i), "some value")
	}
	properties[0] = "rocksdb.num.entries"
	contents = tableOf(t, table.WriterOptions{}, properties)
	contents[len(contents)-1] ^= 1
	s = salvaged(t, contents)
	if n := read(s); n == 0 && len(s.LeftOut.First) < 2 {
		t.Errorf("nothing is kept, left out: %v", s.LeftOut)
	}
}

// Keys are taken for internal keys only if all of them can be, not only the first ones that are checked.
func TestSalvageLooksAtAllKeys(t *testing.T) {
	t.Parallel()
	var pairs []string
	for _, prefix := range []string{"k", "l", "m", "zzz"} {
		for i := range 100 {
			key := fmt.Sprintf("%s%05d", prefix, i)
			if prefix != "l" {
				key += "\x01\x07\x00\x00\x00\x00\x00\x00"
			}
			pairs = append(pairs, key, "v")
		}
	}
	contents := tableOf(t, table.WriterOptions{BlockSize: 100}, pairs)
	for _, cut := range []int{0, 1} {
		s := salvaged(t, contents[:len(contents)-cut])
		if n := read(s); n != 400 || s.file.Internal {
			t.Errorf("cut by %d bytes: %d pairs, internal keys: %v", cut, n, s.file.Internal)
		}
	}
}

// hostile are files that look like a table in very many places. The time to search them must be proportional to
// their size, otherwise their tests would not end.
var hostile = map[string]func(size int) []byte{
	// Each offset is the end of a block that cannot be decoded.
	"a literal full of right checksums": func(size int) []byte {
		data := binary.AppendUvarint(nil, uint64(size))
		data = append(data, 63<<2, 0, 0, 0, 0)
		binary.LittleEndian.PutUint32(data[len(data)-4:], uint32(size-1))
		for len(data) < size {
			data = append(data, 1)
			data = binary.LittleEndian.AppendUint32(data, format.Checksum(data[:len(data)-1], 1))
		}
		return data
	},
	// Each offset looks like the start of a block that decodes to far more bytes, but is not one.
	"copies of copies": func(size int) []byte {
		var data []byte
		for len(data) < size {
			start := len(data)
			data = append(binary.AppendUvarint(data, 22<<10), 0, 0)
			for len(data)-start < 3<<10 {
				data = append(data, 63<<2|2, 1, 0)
			}
			data = append(data, 1)
			data = binary.LittleEndian.AppendUint32(data, format.Checksum(data[start:len(data)-1], 1))
		}
		return data
	},
	// Many gaps adjoin one block, which decodes to far more bytes.
	"gaps beside a block of zeros": func(size int) []byte {
		data := storedBlock(string(codecs.Zstd.Encode(nil, []byte(rawtable.Entry(0, "a", string(make([]byte, 30<<20)))+rawtable.Restarts(0)))), 2)
		var listed []string
		for i := 0; len(data) < size; i++ {
			data = append(data, "junk"...)
			listed = append(listed, fmt.Sprintf("filter.%06d", i), rawtable.Handle(uint64(len(data)), 12))
			data = append(data, storedBlock(rawtable.Entry(0, "b", "")+rawtable.Restarts(0), 0)...)
		}
		return append(data, storedBlock(rawtable.Entries(listed...), 0)...)
	},
	// Each restart point must be one of many entries.
	"restart points": func(size int) []byte {
		var data, restarts []byte
		for i := range size / 8 {
			data = append(data, 0, 1, 0, 'x')
			restarts = binary.LittleEndian.AppendUint32(restarts, uint32(4*i))
		}
		return append(data, restarts...)
	},
	"zeros":             func(size int) []byte { return make([]byte, size) },
	"entries":           func(size int) []byte { return bytes.Repeat([]byte("\x00\x03\x01key1\x02\x01\x012"), size/12) },
	"entries of a kind": func(size int) []byte { return bytes.Repeat([]byte{0, 1, 0, 0, 2, 0, 1}, size/7) },
	"a long shared key": func(size int) []byte { return longShared(size, snappy.Encode, 1) },
	"the same, of zstd": func(size int) []byte { return longShared(size, codecs.Zstd.Encode, 2) },
	"starts of zstd":    func(size int) []byte { return bytes.Repeat([]byte("\x28\xb5\x2f\xfd\x00\x58\x01\x00"), size/8) },
	"starts of deflate": func(size int) []byte { return bytes.Repeat([]byte("\x78\x9c\x63\x60\x00\x00"), size/6) },
	"frames in a row": func(size int) []byte {
		return append([]byte{1}, bytes.Repeat(codecs.Zstd.Encode(nil, make([]byte, 100_000)), size/40)...)
	},
	"blocks of one kind": func(size int) []byte {
		return bytes.Repeat(storedBlock("\x00\x01\x00a"+rawtable.Restarts(0), 0), size/17)
	},
}

// longShared is a block that fills the file, with keys that share most of their bytes.
func longShared(size int, encode func(dst, src []byte) []byte, id byte) []byte {
	var b strings.Builder
	b.WriteString(rawtable.Entry(0, strings.Repeat("k", size), ""))
	for i := range size / 4 {
		b.WriteString(rawtable.Entry(uint64(size), string(binary.BigEndian.AppendUint32(nil, uint32(i))), ""))
	}
	return storedBlock(string(encode(nil, []byte(b.String()+rawtable.Restarts(0)))), id)
}

// storedBlock is a block with its trailer.
func storedBlock(stored string, id byte) []byte {
	var f rawtable.File
	f.Stored(stored, id)
	return f.Bytes
}

func TestSearchTakesLinearTime(t *testing.T) {
	long.Test(t)
	t.Parallel()
	const size = 200_000
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		data := hostile[name](size)
		s := salvaged(t, data)
		if n := read(s); n == 0 && len(s.Lost.First) == 0 {
			t.Errorf("%s: nothing is found, and nothing reported but %v", name, s.Lost)
		}
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(hostile)) {
		for _, size := range []int{150_000, 600_000} {
			data := hostile[name](size / long.Size(10, 1))
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "-"), size), func(b *testing.B) {
				b.SetBytes(int64(len(data)))
				for b.Loop() {
					searchBlocks(fileImage{data: data}, func(region) {})
				}
			})
		}
	}
}
