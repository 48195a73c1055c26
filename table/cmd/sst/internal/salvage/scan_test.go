package salvage

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/golden"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/codecs"
)

const goldens = "../../../../../testdata"

// FuzzScan searches arbitrary bytes for blocks: the search ends, blocks and gaps fill the file, and each block is
// valid.
func FuzzScan(f *testing.F) {
	for _, contents := range golden.Small(f, goldens, 8<<10) {
		f.Add(contents)
		f.Add(contents[7:])
	}
	f.Add(bytes.Repeat([]byte{0}, 1000))
	f.Add(bytes.Repeat([]byte{0, 1, 0, 'a'}, 300))
	f.Fuzz(func(t *testing.T, data []byte) {
		data = bytes.Clone(data)
		rawtable.Repair(data)
		searchBlocks(fileImage{data: data}, func(region) {})
		blocks, gaps := scanned(fileImage{data: data})
		at := 0
		for len(blocks) > 0 || len(gaps) > 0 {
			switch {
			case len(blocks) > 0 && blocks[0].start == at:
				if _, err := (fileImage{data: data}).decode(blocks[0]); err != nil {
					t.Fatalf("block at %d does not decode", at)
				}
				at, blocks = blocks[0].end+format.TrailerLen, blocks[1:]
			case len(gaps) > 0 && gaps[0].start == at:
				at, gaps = gaps[0].end, gaps[1:]
			default:
				t.Fatalf("neither block nor gap at %d", at)
			}
		}
		if rest := len(data) - at; rest != format.FooterLen && rest > format.TrailerLen {
			t.Fatalf("%d bytes are in no block and no gap", rest)
		}
	})
}

// After damage, blocks of all compressions with a recognizable start are found again, whatever the damage looks
// like.
func TestScanResumes(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 5))
	for name, codec := range map[string]table.Codec{"none": table.NoCompression, "snappy": table.Snappy, "zstd": codecs.Zstd, "zlib": codecs.Zlib, "deflate": codecs.Deflate} {
		var pairs []string
		for i := range 400 {
			key := string([]byte{'k', byte(i >> 8), byte(i)})
			pairs = append(pairs, key, strings.Repeat(key, 10))
		}
		sound := tableOf(t, table.WriterOptions{Compression: codec, BlockSize: 500}, pairs)
		l, err := table.ReadLayout(bytes.NewReader(sound), int64(len(sound)), &table.ReaderOptions{Codecs: codecs.All()})
		noError(t, err)
		first, next, left := l.Data[3], l.Data[6], len(l.Data)-3
		for damage, fill := range map[string]func(p []byte){
			"zeros":  func(p []byte) { clear(p) },
			"random": func(p []byte) { rand.NewChaCha8([32]byte{byte(rng.Uint64())}).Read(p) },
			"0xff":   func(p []byte) { copy(p, bytes.Repeat([]byte{0xff}, len(p))) },
			"text":   func(p []byte) { copy(p, bytes.Repeat([]byte("damage"), len(p))) },
			"blocks": func(p []byte) { copy(p, bytes.Repeat([]byte("\x00\x03\x01key1\x02\x01\x012"), len(p))) },
		} {
			data := bytes.Clone(sound)
			fill(data[first.Offset:next.Offset])
			blocks, gaps := scanned(fileImage{data: data})
			want := extent{int(first.Offset), int(next.Offset)}
			if len(gaps) != 1 || gaps[0] != want || len(blocks) != left+2 {
				t.Errorf("%s, %s: gaps %v, want %v; %d blocks, want %d and two more", name, damage, gaps, want, len(blocks), left)
			}
		}
	}
}

// scanned returns the blocks that scan finds, and the gaps.
func scanned(in fileImage) (blocks, gaps []extent) {
	for p := range scan(in) {
		if p.kind == gap {
			gaps = append(gaps, p.extent)
		} else {
			blocks = append(blocks, p.extent)
		}
	}
	return blocks, gaps
}
