package table_test

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/verified"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// Verify reads each byte of a table once, and many data blocks at a time.
func TestVerifyReadsOnce(t *testing.T) {
	t.Parallel()
	set := workload.W1(20_000)
	var pairs []workload.Pair
	for i, key := range set.Keys {
		pairs = append(pairs, workload.Pair{Key: key, Value: set.Values[i]})
	}
	for name, o := range map[string]*table.WriterOptions{
		"plain":        {Compression: table.NoCompression},
		"both filters": {FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), DataDigest: true, Properties: true},
		"large blocks": {Compression: table.NoCompression, BlockSize: 300 << 10},
	} {
		contents := build(t, o, pairs)
		src := &countingReader{ReaderAt: bytes.NewReader(contents)}
		r, err := table.NewReader(src, int64(len(contents)), nil)
		if err != nil {
			t.Fatal(err)
		}
		callsBefore, bytesBefore := src.n.Load(), src.bytes.Load()
		if err := r.Verify(); err != nil {
			t.Fatal(err)
		}
		calls, read := src.n.Load()-callsBefore, src.bytes.Load()-bytesBefore
		if size := int64(len(contents)); read > size+100 || calls > 10+size/(200<<10) {
			t.Errorf("%s: %d bytes by %d reads of a table of %d bytes", name, read, calls, size)
		}
	}
}

// Who asks for them gets the keys that Verify checks, and is told whether those of damaged blocks are missing.
func TestVerifiedKeys(t *testing.T) {
	t.Parallel()
	pairs := pairsOf("a", "b", "c", "d", "e")
	contents := build(t, &table.WriterOptions{BlockSize: 1, Compression: table.NoCompression}, pairs)
	keysOf := func(contents []byte) (keys string, all bool, err error) {
		all, err = verified.Verify(open(t, contents, nil), func(key []byte, _, _ uint64) { keys += string(key) })
		return keys, all, err
	}
	type result struct {
		Keys         string
		All, Damaged bool
	}
	damaged := bytes.Clone(contents)
	damaged[bytes.IndexByte(damaged, 'c')] ^= 1
	for name, tt := range map[string]struct {
		contents []byte
		want     result
	}{
		"sound":   {contents, result{"abcde", true, false}},
		"damaged": {damaged, result{"abde", false, true}},
		"empty":   {build(t, nil, nil), result{"", true, false}},
		"filter only": {build(t, &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}, []workload.Pair{{Key: []byte("a")}}),
			result{"", false, false}},
	} {
		keys, all, err := keysOf(tt.contents)
		if diff := cmp.Diff(tt.want, result{keys, all, err != nil}); diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}
