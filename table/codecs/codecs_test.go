package codecs

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

var noError = errtest.NoError

// Encoded blocks decode, appended to dst, and not beyond the limit.
func TestRoundTrip(t *testing.T) {
	t.Parallel()
	for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
		for _, src := range [][]byte{nil, []byte("a"), bytes.Repeat([]byte("block "), 10_000)} {
			stored := c.Encode([]byte("dst "), src)[4:]
			for _, all := range append(All(), c) {
				if all.ID() != c.ID() {
					continue
				}
				got, err := all.Decode([]byte("dst "), stored, len(src))
				if diff := cmp.Diff("dst "+string(src), string(got)); err != nil || diff != "" {
					t.Errorf("%T %d, %d bytes: %v (-want +got):\n%s", all, c.ID(), len(src), err, diff)
				}
				if len(src) == 0 {
					continue
				}
				if got, err := all.Decode(nil, stored, len(src)-1); err == nil {
					t.Errorf("%T %d: %d bytes beyond a limit of %d", all, c.ID(), len(got), len(src)-1)
				}
				if got, err := all.Decode(nil, append(bytes.Clone(stored), "more"...), len(src)); err == nil {
					t.Errorf("%T %d: %d bytes of a block with more behind it", all, c.ID(), len(got))
				}
				if got, err := all.Decode(nil, stored[:len(stored)-1], len(src)); err == nil {
					t.Errorf("%T %d: %d bytes of a block cut short", all, c.ID(), len(got))
				}
			}
		}
	}
}

// A zstd block can have several frames, whose contents together do not exceed the limit.
func TestFurtherZstdFrames(t *testing.T) {
	t.Parallel()
	stored := Zstd.Encode(Zstd.Encode(nil, []byte("two ")), []byte("frames"))
	if got, err := Zstd.Decode(nil, stored, 10); err != nil || string(got) != "two frames" {
		t.Errorf("Decode = %q, %v", got, err)
	}
	if got, err := Zstd.Decode(nil, stored, 9); err == nil {
		t.Errorf("%d bytes beyond a limit of 9", len(got))
	}
}

// Tables with other engines' layouts can be read with All.
func TestTables(t *testing.T) {
	t.Parallel()
	var pairs []workload.Pair
	for i := range 5000 {
		pairs = append(pairs, workload.Pair{Key: fmt.Appendf(nil, "key%06d", i), Value: bytes.Repeat([]byte{byte(i)}, 50)})
	}
	for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
		contents := tabletest.Build(t, &table.WriterOptions{Compression: c, Concurrency: 2}, pairs)
		if _, err := table.NewReader(bytes.NewReader(contents), int64(len(contents)), nil); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("id %d without codecs: %v, want ErrCorrupt", c.ID(), err)
		}
		r := tabletest.Open(t, contents, &table.ReaderOptions{Codecs: All()})
		if v, err := r.Get([]byte("key004711")); err != nil || len(v) != 50 {
			t.Errorf("id %d: Get = %q, %v", c.ID(), v, err)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("id %d: %v", c.ID(), err)
		}
	}
}

// Tables can be read back however well they compress: keys and values take a thousandth of their length in the file.
func TestExtremeTables(t *testing.T) {
	long.Test(t)
	t.Parallel()
	for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
		for name, tt := range map[string]struct{ n, key, value int }{
			"a key of 8 MB":     {1, 8_000_000, 0},
			"20 keys of 70 kB":  {20, 70_000, 0},
			"400 keys of 10 kB": {400, 10_000, 0},
			"a value of 70 MB":  {1, 10, 70_000_000},
			"20,000 short keys": {20_000, 10, 0},
		} {
			t.Run(fmt.Sprintf("id %d, %s", c.ID(), name), func(t *testing.T) { checkExtreme(t, c, tt.n, tt.key, tt.value) })
		}
	}
}

func checkExtreme(t *testing.T, c table.Codec, n, keyLen, valueLen int) {
	t.Helper()
	prefix, value := bytes.Repeat([]byte("k"), keyLen), make([]byte, valueLen)
	key := func(i int) []byte { return fmt.Appendf(nil, "%s%06d", prefix, i) }
	var pairs []workload.Pair
	for i := range n {
		pairs = append(pairs, workload.Pair{Key: key(i), Value: value})
	}
	contents := tabletest.Build(t, &table.WriterOptions{Compression: c, BlockSize: 16 << 10}, pairs)
	r := tabletest.Open(t, contents, &table.ReaderOptions{Codecs: All()})
	v, err := r.Get(key(n - 1))
	if err := errors.Join(err, r.Verify()); err != nil || len(v) != valueLen {
		t.Errorf("value of %d bytes, %v", len(v), err)
	}
}
