package database

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand"
	"slices"
	"testing"
	"unicode/utf16"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table"
)

// These functions encode keys like Chromium.

// prefix encodes each number in as few bytes as possible.
func prefix(database, store, index uint64) []byte {
	key, lengths := []byte{0}, byte(0)
	for _, part := range []struct {
		id    uint64
		shift int
	}{{database, 5}, {store, 2}, {index, 0}} {
		id := binary.LittleEndian.AppendUint64(nil, part.id)
		id = append(id[:1], bytes.TrimRight(id[1:], "\x00")...)
		lengths |= byte(len(id)-1) << part.shift
		key = append(key, id...)
	}
	key[0] = lengths
	return key
}

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

func number(n uint64) []byte { return binary.AppendUvarint(nil, n) }

func text(s string) []byte {
	units := utf16.Encode([]rune(s))
	b := number(uint64(len(units)))
	for _, u := range units {
		b = binary.BigEndian.AppendUint16(b, u)
	}
	return b
}

func double(kind byte, v float64) []byte {
	return binary.LittleEndian.AppendUint64([]byte{kind}, math.Float64bits(v))
}

func array(values ...[]byte) []byte {
	return join([]byte{typeArray}, number(uint64(len(values))), join(values...))
}

func str(s string) []byte { return join([]byte{typeString}, text(s)) }

func binaryOf(b string) []byte { return join([]byte{typeBinary}, number(uint64(len(b))), []byte(b)) }

// values returns keys of entries, in order.
func values() [][]byte {
	return [][]byte{
		{typeMin},
		double(typeNumber, math.Inf(-1)), double(typeNumber, -300), double(typeNumber, -2.5), double(typeNumber, 0), double(typeNumber, 1), double(typeNumber, 256), double(typeNumber, math.Inf(1)),
		double(typeDate, -1), double(typeDate, 1e12),
		str(""), str("B"), str("a"), str("aa"), str("ab"), str("b"), str("é"), str("世"), str("😀"), str("\ufb01"),
		binaryOf(""), binaryOf("\x00"), binaryOf("\x00\x01"), binaryOf("\x01"),
		array(), array(double(typeNumber, 1)), array(double(typeNumber, 1), str("a")), array(double(typeNumber, 2)), array(str("a")), array(array()), array(array(), array()),
		{typeNull},
	}
}

// ordered returns keys of a database, each less than the next.
func ordered() [][]byte {
	all, one := prefix(0, 0, 0), prefix(1, 0, 0)
	keys := [][]byte{
		join(all, []byte{0}), join(all, []byte{1}), join(all, []byte{2}), join(all, []byte{3}), join(all, []byte{4}), join(all, []byte{5}), join(all, []byte{6}),
		join(all, []byte{50}), join(all, []byte{50, 0}), join(all, []byte{50, 1}), join(all, []byte{50, 1, 0}),
		join(all, []byte{100}, number(1)), join(all, []byte{100}, number(127)), join(all, []byte{100}, number(128)), join(all, []byte{100}, number(300)),
		join(all, []byte{201}, text(""), text("")), join(all, []byte{201}, text("file"), text("a")), join(all, []byte{201}, text("file"), text("aa")), join(all, []byte{201}, text("file"), text("b")), join(all, []byte{201}, text("files"), text("a")),
		join(one, []byte{0}), join(one, []byte{5}),
		join(one, []byte{50}, number(1), []byte{0}), join(one, []byte{50}, number(1), []byte{7}), join(one, []byte{50}, number(200), []byte{0}),
		join(one, []byte{100}, number(1), number(30), []byte{0}), join(one, []byte{100}, number(1), number(30), []byte{3}), join(one, []byte{100}, number(1), number(31), []byte{0}), join(one, []byte{100}, number(2), number(30), []byte{0}),
		join(one, []byte{150}, number(1)), join(one, []byte{150}, number(256)),
		join(one, []byte{151}, number(1), number(31)), join(one, []byte{151}, number(2), number(30)),
		join(one, []byte{200}, text("a")), join(one, []byte{200}, text("b")),
		join(one, []byte{201}, number(1), text("z")), join(one, []byte{201}, number(2), text("a")),
	}
	for _, p := range [][]byte{prefix(1, 1, 1), prefix(1, 1, 2), prefix(1, 1, 3)} {
		keys = append(keys, p)
		for _, v := range values() {
			keys = append(keys, join(p, v))
		}
	}
	index := prefix(1, 1, 30)
	keys = append(keys, index)
	for _, v := range values() {
		keys = append(keys,
			join(index, v),
			join(index, v, number(1), str("a")), join(index, v, number(2), str("a")), join(index, v, number(1), str("b")))
	}
	return append(keys,
		join(prefix(1, 1, 31), str("a"), number(0), str("a")),
		join(prefix(1, 2, 1), str("a")),
		join(prefix(1, 256, 1), str("a")),
		join(prefix(2, 0, 0), []byte{0}),
		join(prefix(255, 1, 1), str("a")),
		join(prefix(256, 1, 1), str("a")),
		join(prefix(math.MaxInt64-1, 1, 1), str("a")),
	)
}

// malformed returns malformed keys, in bytewise order.
func malformed() [][]byte {
	p := prefix(1, 1, 1)
	keys := [][]byte{
		nil, {0}, {0, 0, 0}, {0, 0, 0, 0}, // cut short
		join(prefix(0, 0, 0), []byte{0, 0}), join(prefix(0, 0, 0), []byte{7}), join(prefix(0, 0, 0), []byte{100}), join(prefix(0, 0, 0), []byte{201, 1, 0, 'a'}),
		join(prefix(1, 0, 0), []byte{6}), join(prefix(1, 0, 0), []byte{50, 1}), join(prefix(1, 0, 0), []byte{100, 1, 0xff}),
		join(prefix(1, 1, 0), str("a")), join(prefix(1, 1, 4), str("a")), join(prefix(1, 1, 29), str("a")),
		join(p, []byte{7}), join(p, []byte{typeNumber, 0}), join(p, double(typeNumber, math.NaN())), join(p, str("a"), []byte{0}), join(p, []byte{typeBinary, 2, 0}),
		join(p, []byte{typeString, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 'a'}), join(p, []byte{typeArray, 200, 1, typeNull}),
		join(p, bytes.Repeat([]byte{typeArray, 1}, maxArrayDepth+1), []byte{typeNull}), // too deep
		join(prefix(1, 1, 30), str("a"), []byte{0x80}), join(prefix(1, 1, 30), str("a"), number(1), []byte{typeString}),
		{0xe0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0}, // a negative database number
		{0xff}, {0xff, 0xff, 0xff},
	}
	slices.SortFunc(keys, bytes.Compare)
	return keys
}

func samples() [][]byte { return slices.Concat(ordered(), malformed()) }

func TestIDBOrder(t *testing.T) {
	t.Parallel()
	keys, c := samples(), idbComparer{}
	for i, a := range keys {
		for j, b := range keys {
			if got, want := sign(c.Compare(a, b)), sign(i-j); got != want {
				t.Errorf("Compare(%x, %x) = %d, want %d", a, b, got, want)
			}
		}
	}
}

// Keys of different bytes that are equal for Chromium.
func TestIDBSameKeys(t *testing.T) {
	t.Parallel()
	p := prefix(1, 1, 1)
	for name, keys := range map[string][2][]byte{
		"zeros":                     {join(p, double(typeNumber, 0)), join(p, double(typeNumber, math.Copysign(0, -1)))},
		"longer numbers":            {join(p, str("a")), join([]byte{0b001_001_01, 1, 0, 1, 0, 1, 0}, str("a"))},
		"sequences of no entry":     {join(prefix(1, 1, 30), str("a"), number(1)), join(prefix(1, 1, 30), str("a"), number(2))},
		"a sequence, and it is not": {join(prefix(1, 1, 30), str("a"), number(1)), join(prefix(1, 1, 30), str("a"))},
	} {
		if got := (idbComparer{}).Compare(keys[0], keys[1]); got != 0 {
			t.Errorf("%s: Compare = %d, want 0", name, got)
		}
	}
}

// mutated returns a key with some bytes changed, removed or added.
func mutated(r *rand.Rand, key []byte) []byte {
	key = bytes.Clone(key)
	for range r.Intn(3) {
		at := r.Intn(len(key) + 1)
		switch {
		case r.Intn(3) == 0:
			key = slices.Insert(key, at, byte(r.Intn(8)))
		case at == len(key):
		case r.Intn(2) == 0:
			key = slices.Delete(key, at, at+1)
		default:
			key[at] = byte(r.Intn(8))
		}
	}
	return key
}

func TestIDBOrderOfAnyBytes(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	r, keys := rand.New(rand.NewSource(1)), samples()
	for range 100_000 {
		pick := func() []byte { return mutated(r, keys[r.Intn(len(keys))]) }
		a := pick()
		b, c := mutated(r, a), pick()
		if checkOrder(t, idbComparer{}, a, b, c); t.Failed() {
			return
		}
	}
}

// A comparison allocates nothing, however long or deep keys are: a hostile table causes one for each entry.
func TestIDBComparesWithoutMemory(t *testing.T) {
	deep := join(prefix(1, 1, 1), bytes.Repeat([]byte{typeArray, 1}, maxArrayDepth-1), str(string(bytes.Repeat([]byte("k"), 1<<20))))
	if n := testing.AllocsPerRun(10, func() { idbComparer{}.Compare(deep, deep) }); n > 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzIDB(f *testing.F) {
	keys := samples()
	for i := range keys {
		f.Add(keys[i], keys[(i+1)%len(keys)], keys[(i+len(keys)/2)%len(keys)])
	}
	f.Fuzz(func(t *testing.T, x, y, z []byte) { checkOrder(t, idbComparer{}, x, y, z) })
}

// checkOrder checks that c is an order for any three keys.
func checkOrder(t *testing.T, c table.Comparer, x, y, z []byte) {
	t.Helper()
	keys := [][]byte{x, y, z}
	for _, a := range keys {
		if c.Compare(a, a) != 0 {
			t.Errorf("Compare(%x, itself) = %d", a, c.Compare(a, a))
		}
		for _, b := range keys {
			if sign(c.Compare(a, b)) != -sign(c.Compare(b, a)) {
				t.Errorf("Compare(%x, %x) = %d, and %d the other way round", a, b, c.Compare(a, b), c.Compare(b, a))
			}
		}
	}
	slices.SortFunc(keys, c.Compare)
	first, second := c.Compare(keys[0], keys[1]), c.Compare(keys[1], keys[2])
	if got, want := sign(c.Compare(keys[0], keys[2])), sign(min(first, second)); first > 0 || second > 0 || got != want {
		t.Errorf("%x, %x, %x: %d, %d, and from end to end %d", keys[0], keys[1], keys[2], first, second, got)
	}
}

func sign(n int) int { return min(1, max(-1, n)) }
