package table_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/layout"
)

// tailSum returns the TailSum of a table, and whether it has a digest block.
func tailSum(t *testing.T, contents []byte) ([sha256.Size]byte, bool) {
	t.Helper()
	sum, withData, err := layoutOf(t, contents).TailSum()
	noError(t, err)
	return sum, withData
}

// withValues returns numbered entries that all have the same value.
func withValues(n int, value string) []workload.Pair {
	pairs := numbered(n)
	for i := range pairs {
		pairs[i].Value = []byte(value)
	}
	return pairs
}

// Tables with the same keys and different values of the same length have identical tails. With a digest they do not.
func TestTailSumOfOtherValues(t *testing.T) {
	t.Parallel()
	for _, digest := range []bool{false, true} {
		o := &table.WriterOptions{Compression: table.NoCompression, FilterPolicy: filter.NewBloom(10), DataDigest: digest}
		one, two := build(t, o, withValues(1000, "one")), build(t, o, withValues(1000, "two"))
		tail := len(one) - int(tailSize(t, one))
		if same := bytes.Equal(one[tail:], two[tail:]); same == digest {
			t.Errorf("digest %v: the same tails: %v", digest, same)
		}
		sum1, withData := tailSum(t, one)
		sum2, _ := tailSum(t, two)
		if withData != digest || (sum1 == sum2) == digest {
			t.Errorf("digest %v: withData %v, TailSums %x and %x", digest, withData, sum1, sum2)
		}
		mixed := append(bytes.Clone(one[:tail]), two[tail:]...)
		err := open(t, mixed, nil).Verify()
		if digest != (err != nil) || digest && !strings.HasPrefix(textOf(err), "table: digest block at ") {
			t.Errorf("digest %v: the data of one table and the tail of the other: %v", digest, err)
		}
	}
}

// tailSize returns the number of bytes after the last data block.
func tailSize(t *testing.T, contents []byte) uint64 {
	t.Helper()
	l := layoutOf(t, contents)
	last := l.Data[len(l.Data)-1]
	return uint64(len(contents)) - last.Offset - last.Length - 5
}

// For any options, the digest is the SHA-256 of the trailers in the file, and the Writer returns the right TailSum.
// The digest block does not change data blocks and filters.
func TestDataDigestIsThatOfTheTrailers(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 10))
	for n := range 100 {
		o := &table.WriterOptions{
			BlockSize: 1 + rng.IntN(2000), Concurrency: rng.IntN(4), Properties: rng.IntN(2) == 0,
			FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10),
		}
		pairs := withValues(rng.IntN(3000), strings.Repeat("v", rng.IntN(50)))
		if o.FilterOnly = n%5 == 0; o.FilterOnly {
			o.FilterPolicy, pairs = nil, withValues(rng.IntN(3000), "")
		}
		plain := build(t, o, pairs)
		o.DataDigest = true
		contents, w := buildBy(t, o, pairs)
		checkDigest(t, contents, plain)
		if sum, withData := tailSum(t, contents); sum != w.TailSum() || !withData {
			t.Errorf("table %d: TailSum %x, %v, want %x of the Writer", n, sum, withData, w.TailSum())
		}
		checkSound(t, fmt.Sprint("table ", n), open(t, contents, nil))
	}
}

// checkDigest compares the digest block with the data blocks, and these with the data blocks of a table without a
// digest.
func checkDigest(t *testing.T, contents, plain []byte) {
	t.Helper()
	l := layoutOf(t, contents)
	want := sha256.New()
	for _, b := range l.Data {
		want.Write(contents[b.Offset+b.Length:][:5])
	}
	meta, err := l.Meta()
	noError(t, err)
	digest := meta[len(meta)-1]
	if digest.Name != "sievetable.digest" {
		t.Fatalf("metaindex %v, want a digest at its end", meta)
	}
	if got := contents[digest.Offset:][:digest.Length]; !bytes.Equal(got, want.Sum(nil)) {
		t.Errorf("digest %x, want %x", got, want.Sum(nil))
	}
	if !bytes.HasPrefix(plain, contents[:digest.Offset]) {
		t.Error("the blocks before the digest block are not those of a table without it")
	}
}

// A malformed digest block is reported by Verify, and by everything that needs the TailSum. Lookups do not need it.
func TestMalformedDigest(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		size        int
		compression byte
		want        string
	}{
		{"short", 31, 0, "31 bytes, not a SHA-256 of 32"},
		{"long", 1 << 20, 0, "1048576 bytes, not a SHA-256 of 32"},
		{"compressed", 32, 1, "compression id is 1, not 0"},
		{"of other blocks", 32, 0, "it has 7878"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			contents := soundBut(func(p *twoBlocks) {
				p.filter = strings.Repeat("x", tt.size)
				p.meta = func(digest string) string { return rawtable.Entries("sievetable.digest", digest) }
			})
			contents[54+tt.size] = tt.compression
			rawtable.Repair(contents)
			r := open(t, contents, nil)
			var damage *table.CorruptionError
			if err := r.Verify(); !errors.As(err, &damage) || damage.Block != layout.DigestBlock || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Verify: %v, want %s", err, tt.want)
			}
			checkGet(t, r, []byte("c"), []byte("3"))
			if _, _, err := layoutOf(t, contents).TailSum(); tt.name != "of other blocks" && !errors.Is(err, table.ErrCorrupt) {
				t.Errorf("TailSum: %v", err)
			}
		})
	}
}

// With ReaderOptions.TailSum, Open and Verify report another table. Readers of different tables share no blocks,
// even with the same CacheKey.
func TestTailSumTellsAnotherTable(t *testing.T) {
	t.Parallel()
	o := &table.WriterOptions{Compression: table.NoCompression, DataDigest: true, FilterPolicy: filter.NewBloom(10)}
	one, two := build(t, o, withValues(1000, "one")), build(t, o, withValues(1000, "two"))
	sum1, _ := tailSum(t, one)
	sum2, _ := tailSum(t, two)
	c := table.NewCache(1 << 20)
	current := one
	src := readAtFunc(func(p []byte, off int64) (int, error) { return bytes.NewReader(current).ReadAt(p, off) })
	opts := &table.ReaderOptions{TailSum: sum1, Cache: c, CacheKey: "same", Name: "t.ldb"}
	r := newReader(t, src, len(one), opts)
	key := []byte("key000002")
	checkGet(t, r, key, []byte("one"))
	other := *opts
	other.TailSum = sum2
	checkGet(t, open(t, two, &other), key, []byte("two"))

	current = two
	want := fmt.Sprintf("table: t.ldb: footer at %d: TailSum is %x, not %x", len(two)-48, sum2, sum1)
	for what, err := range map[string]error{
		"Verify":    r.Verify(),
		"NewReader": errorOf(table.NewReader(src, int64(len(two)), opts)),
	} {
		if !errors.Is(err, table.ErrCorrupt) || !strings.HasPrefix(textOf(err), want) {
			t.Errorf("%s of another table: %v, want %s", what, err, want)
		}
	}
	current = one
	checkGet(t, r, key, []byte("one"))
}

func errorOf[T any](_ T, err error) error { return err }
