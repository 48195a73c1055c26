package workload

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A Pair is one table entry.
type Pair struct{ Key, Value []byte }

// datasets are the contents of the golden tables in testdata, by name.
var datasets = map[string]func() []Pair{
	"empty":        func() []Pair { return nil },
	"one":          func() []Pair { return []Pair{{[]byte("key"), []byte("value")}} },
	"empty-key":    emptyKey,
	"empty-values": emptyValues,
	"one-mib":      oneMiB,
	"long-prefix":  longPrefix,
	"byte-edges":   byteEdges,
	"mixed":        func() []Pair { return mixed(800) },
	"many-blocks":  func() []Pair { return mixed(1500) },
	"100k":         hundredThousand,
}

// Dataset returns the pairs of the dataset of that name, in the order of their keys.
func Dataset(name string) ([]Pair, error) {
	f, ok := datasets[name]
	if !ok {
		return nil, fmt.Errorf("workload: no dataset %q", name)
	}
	return f(), nil
}

// Digest returns the SHA-256 of pairs in hexadecimal, with each pair encoded by AppendPair.
func Digest(pairs []Pair) string {
	h := sha256.New()
	for _, p := range pairs {
		h.Write(AppendPair(nil, p))
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

// AppendPair appends the lengths of the key and the value as u32le, the key, and the value.
func AppendPair(dst []byte, p Pair) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.Key)))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(p.Value)))
	return append(append(dst, p.Key...), p.Value...)
}

// WriteAll writes the pairs with a Writer of ours or of goleveldb, and closes it.
func WriteAll(w interface {
	Append(key, value []byte) error
	Close() error
}, pairs []Pair) error {
	for _, p := range pairs {
		if err := w.Append(p.Key, p.Value); err != nil {
			return err
		}
	}
	return w.Close()
}

func emptyKey() []Pair {
	return []Pair{{[]byte(""), []byte("of the empty key")}, {[]byte("a"), []byte("1")}, {[]byte("b"), []byte("2")}}
}

func emptyValues() []Pair {
	var pairs []Pair
	for i := range 500 {
		pairs = append(pairs, Pair{fmt.Appendf(nil, "key%05d", i*7), nil})
	}
	return pairs
}

// oneMiB has a value that is far larger than any block size, between small ones.
func oneMiB() []Pair {
	rng := rand.New(rand.NewPCG(3, 3))
	value := make([]byte, 0, 1<<20)
	for len(value) < 1<<20 {
		value = binary.LittleEndian.AppendUint64(value, rng.Uint64())
	}
	return []Pair{{[]byte("a"), []byte("small")}, {[]byte("b"), value}, {[]byte("c"), []byte("small")}}
}

// longPrefix has keys that differ only after 300 common bytes, and some that
// are prefixes of others.
func longPrefix() []Pair {
	prefix := strings.Repeat("a common prefix, ", 20)
	var pairs []Pair
	for i := range 300 {
		key := fmt.Appendf(nil, "%s%04d", prefix, i)
		pairs = append(pairs, Pair{key, fmt.Appendf(nil, "v%d", i)})
		pairs = append(pairs, Pair{append(bytes.Clone(key), "/below"...), nil})
	}
	return pairs
}

// byteEdges has all keys of up to four bytes that are 0x00, 0x7f, 0x80, 0xfe or
// 0xff, where separators and successors have their edge cases.
func byteEdges() []Pair {
	edges := []byte{0x00, 0x7f, 0x80, 0xfe, 0xff}
	keys := [][]byte{{}}
	for i := 0; len(keys[i]) < 4; i++ {
		for _, c := range edges {
			keys = append(keys, append(bytes.Clone(keys[i]), c))
		}
	}
	slices.SortFunc(keys, bytes.Compare)
	var pairs []Pair
	for i, k := range keys {
		pairs = append(pairs, Pair{k, fmt.Appendf(nil, "%d", i)})
	}
	return pairs
}

// mixed has keys of 1 to 24 letters, so that prefixes of all lengths are
// shared, and values of any length up to 100.
func mixed(n int) []Pair {
	rng := rand.New(rand.NewPCG(4, 4))
	seen := map[string]bool{}
	var pairs []Pair
	for len(pairs) < n {
		key := make([]byte, 1+rng.Uint64()%24)
		for i := range key {
			key[i] = "abcd"[rng.Uint64()%4]
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		value := make([]byte, rng.Uint64()%101)
		for i := range value {
			value[i] = byte(rng.Uint64() % 50)
		}
		pairs = append(pairs, Pair{key, value})
	}
	slices.SortFunc(pairs, func(a, b Pair) int { return bytes.Compare(a.Key, b.Key) })
	return pairs
}

func hundredThousand() []Pair {
	var pairs []Pair
	for i := range 100_000 {
		pairs = append(pairs, Pair{fmt.Appendf(nil, "%07d", i*3), fmt.Appendf(nil, "%d", i%10)})
	}
	return pairs
}

// Cut turns the bytes of a fuzzer into pairs. It cuts data into pieces of ≤ width bytes. Each piece that is > the
// key before is a key, and the piece after it is its value.
func Cut(data []byte, width int) []Pair {
	var pairs []Pair
	for len(data) > 0 {
		n := min(width, len(data))
		key := data[:n]
		data = data[n:]
		if len(pairs) == 0 || bytes.Compare(pairs[len(pairs)-1].Key, key) < 0 {
			pairs = append(pairs, Pair{Key: key, Value: data[:min(n, len(data))]})
		}
	}
	return pairs
}
