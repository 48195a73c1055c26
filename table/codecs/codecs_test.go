package codecs

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// What is encoded decodes, behind what is there, and not beyond the limit.
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

// Tables of the layouts that others write read by All.
func TestTables(t *testing.T) {
	t.Parallel()
	for _, c := range []table.Codec{Zstd, Zlib, Deflate} {
		var out bytes.Buffer
		w, err := table.NewWriter(&out, &table.WriterOptions{Compression: c, Concurrency: 2})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 5000 {
			if err := w.Append(fmt.Appendf(nil, "key%06d", i), bytes.Repeat([]byte{byte(i)}, 50)); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		contents := bytes.NewReader(out.Bytes())
		if _, err := table.NewReader(contents, contents.Size(), nil); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("id %d without codecs: %v, want ErrCorrupt", c.ID(), err)
		}
		r, err := table.NewReader(contents, contents.Size(), &table.ReaderOptions{Codecs: All()})
		if err != nil {
			t.Fatal(err)
		}
		if v, err := r.Get([]byte("key004711")); err != nil || len(v) != 50 {
			t.Errorf("id %d: Get = %q, %v", c.ID(), v, err)
		}
		if err := r.Verify(); err != nil {
			t.Errorf("id %d: %v", c.ID(), err)
		}
	}
}

// What is written is read, however far it compresses: keys and values that take a
// thousandth of their length in the file.
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
			checkExtreme(t, fmt.Sprintf("id %d, %s", c.ID(), name), c, tt.n, tt.key, tt.value)
		}
	}
}

func checkExtreme(t *testing.T, name string, c table.Codec, n, keyLen, valueLen int) {
	t.Helper()
	var out bytes.Buffer
	w, err := table.NewWriter(&out, &table.WriterOptions{Compression: c, BlockSize: 16 << 10})
	if err != nil {
		t.Fatal(err)
	}
	prefix, value := bytes.Repeat([]byte("k"), keyLen), make([]byte, valueLen)
	for i := range n {
		if err := w.Append(fmt.Appendf(prefix, "%06d", i), value); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	contents := bytes.NewReader(out.Bytes())
	r, err := table.NewReader(contents, contents.Size(), &table.ReaderOptions{Codecs: All()})
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	v, err := r.Get(fmt.Appendf(prefix, "%06d", n-1))
	if err := errors.Join(err, r.Verify()); err != nil || len(v) != valueLen {
		t.Errorf("%s: value of %d bytes, %v", name, len(v), err)
	}
}
