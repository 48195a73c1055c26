package codecs

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// goldenBlocks returns the data blocks of tables that other engines wrote, decompressed.
func goldenBlocks(f *testing.F) (blocks [][]byte) {
	for _, name := range []string{
		"goleveldb/byte-edges.ldb", "goleveldb/snappy-block-256.ldb", "iq80/mixed.ldb", "leveldb/long-prefix.ldb", "leveldb-1.17/byte-edges.ldb",
	} {
		contents, err := os.ReadFile(filepath.Join("..", "..", "testdata", name))
		noError(f, err)
		layout, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), nil)
		noError(f, err)
		for _, part := range layout.Data[:min(2, len(layout.Data))] {
			b, _, err := layout.ReadBlock(part.Handle)
			noError(f, err)
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// FuzzDecode decodes arbitrary bytes. It returns an error or at most limit bytes, with memory in proportion.
func FuzzDecode(f *testing.F) {
	for _, src := range append(goldenBlocks(f), bytes.Repeat([]byte("block "), 1000), make([]byte, 1<<20)) {
		for _, c := range []table.Codec{Zstd, Zlib, Deflate, table.Snappy} {
			f.Add(c.Encode(nil, src), len(src))
			f.Add(c.Encode(nil, src), 1000)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte, limit int) {
		limit = max(0, limit%(1<<20))
		for _, c := range append(All(), Zstd) {
			got, err := c.Decode([]byte("dst"), src, limit)
			if err != nil {
				continue
			}
			if len(got)-3 > limit || !bytes.HasPrefix(got, []byte("dst")) {
				t.Errorf("id %d: %.20q…, %d bytes; want dst and ≤ %d", c.ID(), got, len(got), limit)
			}
			if cap(got) > 3*len(got)+8<<10 {
				t.Errorf("id %d: %d bytes of memory for %d", c.ID(), cap(got), len(got))
			}
			if again, err := c.Decode(nil, c.Encode(nil, got), len(got)); err != nil || !bytes.Equal(again, got) {
				t.Errorf("id %d: %d bytes encoded and decoded: %d, %v", c.ID(), len(got), len(again), err)
			}
		}
	})
}

// FuzzEncode encodes arbitrary bytes and decodes them again.
func FuzzEncode(f *testing.F) {
	for _, src := range append(goldenBlocks(f), nil, make([]byte, 1<<18)) {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
			got, err := decode(stored(c, src), len(src))
			if err != nil || !bytes.Equal(got, src) {
				t.Errorf("id %d: %d bytes, %v; want %d", c.ID(), len(got), err, len(src))
			}
		}
	})
}
