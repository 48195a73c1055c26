package blocked_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter/blocked"
)

// The expected bytes are literals, as for a Filter.
func TestGrowingGolden(t *testing.T) {
	t.Parallel()
	g := newGrowing(t, 5, 0.001)
	for _, city := range []string{"Bern", "Lima", "Oslo"} {
		addIfAbsent(t, g, []byte(city))
	}
	const want = "536965766547726f" + "01000000" + "01000000" + "fca9f1d24d62503f" + "fa7e6abc7493483f" + "7d062296" +
		"5369657665426c6b010000000400000001000000000000008eea6275" +
		"0000000000000000004800008000000200042000000000000000000000000000" +
		"00000000000000000a0000008000020000000000000004100000000000000000" +
		"6570a42e" +
		"0500000000000000" + "0300000000000000" + "96bc3cad"
	if diff := cmp.Diff(want, fmt.Sprintf("%x", stored(t, g).Bytes())); diff != "" {
		t.Errorf("filter (-want +got):\n%s", diff)
	}
}

// smallChain returns the bytes of two filters with keys.
func smallChain(t testing.TB) []byte {
	first, second := newGrowing(t, 3, 0.01), newGrowing(t, 5, 0.01)
	for i := range uint64(3) {
		addIfAbsent(t, first, growingKey(i))
		addIfAbsent(t, second, growingKey(10+i))
	}
	b := slices.Concat(stored(t, first).Bytes(), stored(t, second).Bytes()[36:])
	b[12] = 2
	return seal(b, 0, 36)
}

// seal sets the checksum in the last 4 bytes of b[from:to].
func seal(b []byte, from, to int) []byte {
	sum := crc32.Checksum(b[from:to-4], crc32.MakeTable(crc32.Castagnoli))
	binary.LittleEndian.PutUint32(b[to-4:], sum)
	return b
}

func readGrowing(contents []byte) error {
	_, err := blocked.ReadGrowing(bytes.NewReader(contents))
	return err
}

func TestReadGrowingSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	// with reads a chain with other bytes at an offset, under valid checksums.
	with := func(offset int, value ...byte) error {
		b := smallChain(t)
		copy(b[offset:], value)
		end := 36 + (len(b)-36)/2
		return readGrowing(seal(seal(b, 0, 36), end-20, end))
	}
	float := func(f float64) []byte { return binary.LittleEndian.AppendUint64(nil, math.Float64bits(f)) }
	numbers := 36 + (len(smallChain(t))-36)/2 - 20
	checkFailures(t, []failure{
		{"nothing", readGrowing(nil), "filter ends in its header"},
		{"a filter", readGrowing(newFilter(t, 1, 0.1).Bytes()),
			`another kind of file: it begins with "SieveBlk", not with "SieveGro"`},
		{"version", with(8, 2), "growing filter of version 2, not 1: update this package"},
		{"no filters", with(12, 0), "growing filter of 0 filters: must be 1 to 32"},
		{"too many filters", with(12, 33), "growing filter of 33 filters: must be 1 to 32"},
		{"one filter more", with(12, 3), "filter ends in its header"},
		{"rate 0", with(16, slices.Concat(float(0), float(0))...), "false-positive rate 0: must be 1e-9 to 0.5"},
		{"rate 0.6", with(16, slices.Concat(float(0.6), float(0.3))...), "false-positive rate 0.6: must be 1e-9 to 0.5"},
		{"no rate", with(16, float(math.NaN())...), "2 filters with 0.0075 left of a rate of NaN"},
		{"little left", with(24, float(0.0003)...), "2 filters with 0.0003 left of a rate of 0.01: must be at least 0.000331"},
		{"more left", with(24, float(0.011)...), "2 filters with 0.011 left of a rate of 0.01"},
		{"no rest", with(24, float(math.NaN())...), "2 filters with NaN left of a rate of 0.01"},
		{"room", with(numbers+1, 3), "filter for 771 keys, with 3 keys (maximum 512 and 72057594037927936)"},
		{"keys", with(numbers+15, 2), "filter for 3 keys, with 144115188075855875 keys (maximum 512 and"},
		{"checksum of the numbers", readGrowing(append(smallChain(t)[:numbers], make([]byte, 20)...)),
			"corrupt filter numbers: checksum mismatch: stored 0x"},
	})
}

// sealAll sets all checksums, up to the first filter that is cut off.
func sealAll(b []byte) []byte {
	if len(b) < 36 {
		return b
	}
	seal(b, 0, 36)
	for at := 36; len(b)-at >= 28; {
		seal(b, at, at+28)
		lines := binary.LittleEndian.Uint64(b[at+16:])
		if at += 28; lines > uint64(len(b)-at)/64 {
			break
		}
		if at += 64 * int(lines); len(b)-at < 24 {
			break
		}
		seal(b, at-64*int(lines), at+4)
		seal(b, at+4, at+24)
		at += 24
	}
	return b
}

// FuzzReadGrowing reads arbitrary chains with valid checksums. They are refused, or they are written as the same
// bytes and accept keys.
func FuzzReadGrowing(f *testing.F) {
	f.Add(smallChain(f), []byte("key"))
	f.Add(stored(f, newGrowing(f, 1, 0.5)).Bytes(), []byte(""))
	f.Fuzz(func(t *testing.T, contents, key []byte) {
		contents = sealAll(bytes.Clone(contents))
		r := bytes.NewReader(contents)
		g, err := blocked.ReadGrowing(r)
		if err != nil {
			return
		}
		if again := stored(t, g).Bytes(); !bytes.Equal(again, contents[:len(contents)-r.Len()]) {
			t.Errorf("%x became %x", contents, again)
		}
		had, size := g.Contains(key), g.Size()
		if absent := addIfAbsent(t, g, key); absent == had || !g.Contains(key) {
			t.Errorf("Contains = %t, then AddIfAbsent = %t and Contains = %t", had, absent, g.Contains(key))
		}
		if got := g.Size(); got > 2000*size+16<<20 {
			t.Errorf("it grew from %d to %d bytes", size, got)
		}
	})
}
