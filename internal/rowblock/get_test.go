package rowblock_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

var noError = errtest.NoError

type pair struct{ Key, Value string }

func build(t testing.TB, interval int, pairs []pair) []byte {
	t.Helper()
	w, err := block.NewWriter(interval, block.Order{Unchecked: true})
	noError(t, err)
	for _, p := range pairs {
		noError(t, w.Append([]byte(p.Key), []byte(p.Value)))
	}
	size := w.Size()
	b := bytes.Clone(w.Finish())
	if len(b) != size {
		t.Errorf("block of %d bytes, but Size said %d", len(b), size)
	}
	return b
}

// newIter returns an Iter on b.
func newIter(b rowblock.Block) *rowblock.Iter {
	it := new(rowblock.Iter)
	it.Reset(b)
	return it
}

func open(t testing.TB, data []byte) *rowblock.Iter {
	t.Helper()
	var it rowblock.Iter
	noError(t, it.Open(data, rowblock.Order{}, unbounded()))
	return &it
}

// For a corrupt block, Get returns an error or the same value as a plain read from the start.
func TestGetOnDamageFindsWhatIsThere(t *testing.T) {
	t.Parallel()
	for _, tt := range rawtable.MalformedBlocks {
		t.Run(tt.Name, func(t *testing.T) {
			for _, key := range []string{"", "a", "c", "d", "dc", "dd", "e", "f"} {
				checkGet(t, []byte(tt.Contents), []byte(key))
			}
		})
	}
}

// unbounded returns a Budget that sets no bound.
func unbounded() *rowblock.Budget {
	return &rowblock.Budget{Memory: math.MaxInt, Compared: math.MaxInt64}
}

// get returns the value of key, and whether data contains key. If budget is nil, it sets no bound.
func get(data []byte, order rowblock.Order, key []byte, budget *rowblock.Budget) (value []byte, found bool, err error) {
	if budget == nil {
		budget = unbounded()
	}
	value, at, err := rowblock.Get(data, order, key, budget)
	return value, at == rowblock.Found, err
}

// checkGet compares a found value with a plain read from the start.
func checkGet(t *testing.T, data, key []byte) {
	t.Helper()
	value, found, err := get(data, rowblock.Order{}, key, nil)
	if !found || err != nil {
		return
	}
	for _, p := range readPlainly(data) {
		if p.Key == string(key) && p.Value == string(value) {
			return
		}
	}
	t.Errorf("Get(%q) = %q, which is not in the block %q", key, value, data)
}

// readPlainly returns the entries up to the first one whose lengths do not fit. It skips entries that share more
// than is known of the key before.
func readPlainly(data []byte) []pair {
	end := len(data) - 4*(1+int(binary.LittleEndian.Uint32(data[len(data)-4:])))
	var pairs []pair
	key := ""
	for rest := data[:end]; len(rest) > 0; {
		var n [3]uint64
		for i := range n {
			v, used := binary.Uvarint(rest)
			if used <= 0 {
				return pairs
			}
			n[i], rest = v, rest[used:]
		}
		if n[1] > uint64(len(rest)) || n[2] > uint64(len(rest))-n[1] {
			return pairs
		}
		if n[0] <= uint64(len(key)) {
			key = key[:n[0]] + string(rest[:n[1]])
			pairs = append(pairs, pair{key, string(rest[n[1] : n[1]+n[2]])})
		} else {
			key = ""
		}
		rest = rest[n[1]+n[2]:]
	}
	return pairs
}

// A restart point inside a value that looks like an entry must be rejected.
func TestGetDoesNotReadInsideEntries(t *testing.T) {
	t.Parallel()
	forged := "\x00\x01\x01c!"
	data := []byte("\x00\x01\x05a" + forged + "\x00\x01\x01d4" + "\x00\x00\x00\x00\x04\x00\x00\x00" + "\x02\x00\x00\x00")
	_, found, err := get(data, rowblock.Order{}, []byte("c"), nil)
	if found || err == nil || !strings.Contains(err.Error(), "restart point 1 is 4") {
		t.Errorf("Get = %v, %v; want an error about the restart point", found, err)
	}
}

// In sound blocks, Get finds exactly the keys that are there, in any order.
func TestGetFindsWhatIsThereAndNothingElse(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	descending := func(a, b []byte) int { return bytes.Compare(b, a) }
	for _, interval := range []int{1, 2, 3, 16, 128} {
		for n := range 40 {
			pairs := randomPairs(rng, n)
			ascending := build(t, interval, pairs)
			there := map[string]string{}
			for _, p := range pairs {
				there[p.Key] = p.Value
			}
			slices.Reverse(pairs)
			falling := build(t, interval, pairs)
			for _, q := range append(randomPairs(rng, 40), pairs...) {
				want, ok := there[q.Key]
				got, found, err := get(ascending, rowblock.Order{}, []byte(q.Key), nil)
				if string(got) != want || found != ok || err != nil || cap(got) != len(got) {
					t.Fatalf("Get(%q) = %q, %v, %v; want %q, %v", q.Key, got, found, err, want, ok)
				}
				_, at, _ := rowblock.Get(ascending, rowblock.Order{}, []byte(q.Key), nil)
				outside := n == 0 || q.Key < pairs[n-1].Key || q.Key > pairs[0].Key // pairs are reversed now
				if (at == rowblock.Outside) != outside {
					t.Fatalf("Get(%q): place %d, want outside: %v", q.Key, at, outside)
				}
				got, found, err = rowblock.GetChecked(ascending, []byte(q.Key))
				if string(got) != want || found != ok || err != nil || cap(got) != len(got) {
					t.Fatalf("GetChecked(%q) = %q, %v, %v; want %q, %v", q.Key, got, found, err, want, ok)
				}
				got, found, err = get(falling, rowblock.Order{Func: descending}, []byte(q.Key), nil)
				if string(got) != want || found != ok || err != nil {
					t.Fatalf("descending: Get(%q) = %q, %v, %v; want %q, %v", q.Key, got, found, err, want, ok)
				}
			}
		}
	}
}
