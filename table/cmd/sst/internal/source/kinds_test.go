package source

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/internalkey"
)

// anyKind is an order of internal keys whose shortened separators have any kind, like those of other engines.
type anyKind struct {
	table.Comparer
	kind func() byte
}

func (c anyKind) Separator(dst, a, b []byte) []byte {
	return c.change(len(dst), c.Comparer.Separator(dst, a, b))
}

func (c anyKind) Successor(dst, b []byte) []byte {
	return c.change(len(dst), c.Comparer.Successor(dst, b))
}

func (c anyKind) change(start int, s []byte) []byte {
	if k, ok := internalkey.Parse(s[min(start, len(s)):]); ok && k.Sequence == internalkey.MaxSequence { // shortened
		s[len(s)-8] = c.kind()
	}
	return s
}

// versionsOf returns internal keys of these kinds in order, with some versions of each of some user keys.
func versionsOf(r *rand.Rand, order table.Comparer, kinds []internalkey.Kind) (keys []string) {
	for i := range 1 + r.IntN(400) {
		for range 1 + r.IntN(3) {
			k := internalkey.Key{UserKey: fmt.Appendf(nil, "user%0*d", r.IntN(8), i), Sequence: r.Uint64N(1 << (1 + r.IntN(47))), Kind: kinds[r.IntN(len(kinds))]}
			keys = append(keys, string(k.Append(nil)))
		}
	}
	compare := func(a, b string) int { return order.Compare([]byte(a), []byte(b)) }
	slices.SortFunc(keys, compare)
	return slices.CompactFunc(keys, func(a, b string) bool { return compare(a, b) == 0 })
}

// tables is the number of random tables in each test of detection.
func tables() int { return long.Rounds(40, 500) }

// Internal keys are recognized, also with RocksDB's kinds, whatever kinds the separators have. If the separators
// were shortened, keys of all kinds are recognized.
func TestInternalKeysOfOtherEngines(t *testing.T) {
	t.Parallel()
	order := table.InternalComparer(table.BytewiseComparer)
	r := rand.New(rand.NewPCG(28, 3))
	path := filepath.Join(t.TempDir(), "t.sst")
	for i, kinds := range [][]internalkey.Kind{{0, 1}, {1}, {0}, {0, 1, 2, 7, 0xf, 0x11}, {2}, {0, 1, 0x77}} {
		for range tables() {
			kind := func() byte { return byte(pickInt(r, 0, 1, 2, 7, 0x18, 0xff, r.IntN(256))) }
			keys := versionsOf(r, order, kinds)
			filetest.WriteTable(t, path, table.WriterOptions{Comparer: anyKind{order, kind}, BlockSize: 1 + r.IntN(4000), Properties: r.IntN(2) == 0}, keys...)
			f, err := dbfile.Open(path, dbfile.Options{})
			noError(t, err)
			if !f.Internal || f.Order != table.BytewiseComparer {
				t.Fatalf("kinds %d: %d keys %.100q…: internal is %t, order %v", i, len(keys), keys, f.Internal, f.Order)
			}
			noError(t, f.Close())
		}
	}
}

func pickInt(r *rand.Rand, values ...int) int { return values[r.IntN(len(values))] }

// lookalikes make user keys that end like internal keys.
var lookalikes = map[string]func(r *rand.Rand, i int) []byte{
	"little-endian numbers": func(r *rand.Rand, i int) []byte { return binary.LittleEndian.AppendUint64(nil, uint64(i)) },
	"multiples of 256":      func(r *rand.Rand, i int) []byte { return binary.BigEndian.AppendUint64(nil, uint64(i)<<8) },
	"numbers of a hash": func(r *rand.Rand, i int) []byte {
		return binary.LittleEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, r.Uint64()), r.Uint64N(3))
	},
	"numbers of a user": func(r *rand.Rand, i int) []byte {
		return binary.LittleEndian.AppendUint64(fmt.Appendf(nil, "user%d", r.IntN(9)), uint64(i))
	},
	"padded text": func(r *rand.Rand, i int) []byte { return fmt.Appendf(nil, "%d%s", r.Uint64(), make([]byte, 12)) },
	"hashes and zeros": func(r *rand.Rand, i int) []byte {
		return append(fmt.Appendf(nil, "%x", r.Uint64()), make([]byte, 8)...)
	},
	"ends in 0xff": func(r *rand.Rand, i int) []byte {
		return append(fmt.Appendf(nil, "%d\x02", r.IntN(1e6)), "\xff\xff\xff\xff\xff\xff\xff"...)
	},
	"negative numbers": func(r *rand.Rand, i int) []byte { return binary.BigEndian.AppendUint64(nil, -uint64(i+1)) },
	"terminated text": func(r *rand.Rand, i int) []byte {
		return fmt.Appendf(nil, "%s\x01 name %x\x00", strings.Repeat("k", r.IntN(9)), r.Uint32())
	},
	"control characters": func(r *rand.Rand, i int) []byte {
		return append(binary.BigEndian.AppendUint64(nil, r.Uint64()&0x0707070707070707), byte(r.IntN(3)), 0, 0, 0, 0, 0, 0, 0)
	},
}

// User keys that look like internal keys are not mistaken for them.
func TestUserKeysThatLookInternal(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(28, 4))
	path := filepath.Join(t.TempDir(), "t.ldb")
	for name, key := range lookalikes {
		for range tables() {
			var keys []string
			for i := range 1 + r.IntN(400) {
				keys = append(keys, string(key(r, i)))
			}
			slices.Sort(keys)
			keys = slices.Compact(keys)
			filetest.WriteTable(t, path, table.WriterOptions{BlockSize: 1 + r.IntN(4000)}, keys...)
			f, err := dbfile.Open(path, dbfile.Options{})
			noError(t, err)
			if f.Internal {
				t.Errorf("%s: %d keys %.100q… are taken for internal keys", name, len(keys), keys)
			}
			noError(t, f.Close())
		}
	}
}
