package fpr

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
)

// A keyShape generates keys of one form.
type keyShape struct {
	name, title string

	// start returns a function that appends the next key to dst. All keys are distinct.
	start func(rng *rand.Rand) func(dst []byte) []byte
}

// keyShapes lists the shapes. Their index seeds the random keys, so new shapes go to the
// end.
var keyShapes = []keyShape{
	{"random", "Random: 16 bytes", random},
	{"sequential", "Sequential: 8-byte big-endian numbers", sequential},
	{"decimal", "Decimal: user000000000042 and on", decimal},
	{"urls", "URLs: 64 bytes, long shared prefixes", urls},
}

// Shapes returns the names of the shapes.
func Shapes() []string {
	var names []string
	for _, s := range keyShapes {
		names = append(names, s.name)
	}
	return names
}

// shapeIndex returns the index of the shape with this name.
func shapeIndex(name string) int {
	return slices.IndexFunc(keyShapes, func(s keyShape) bool { return s.name == name })
}

func random(rng *rand.Rand) func([]byte) []byte {
	return func(dst []byte) []byte {
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, rng.Uint64()), rng.Uint64())
	}
}

func sequential(rng *rand.Rand) func([]byte) []byte {
	i := rng.Uint64() >> 1
	return func(dst []byte) []byte {
		i++
		return binary.BigEndian.AppendUint64(dst, i)
	}
}

func decimal(rng *rand.Rand) func([]byte) []byte {
	i := rng.Uint64N(9e11) // leaves enough numbers of twelve digits
	return func(dst []byte) []byte {
		i++
		return fmt.Appendf(dst, "user%012d", i)
	}
}

// urls generates URLs of random sites and topics. The page number alone makes them
// distinct.
func urls(rng *rand.Rand) func([]byte) []byte {
	page := rng.Uint64N(1e11)
	return func(dst []byte) []byte {
		page += 1 + rng.Uint64N(1000)
		return fmt.Appendf(dst, "https://www.site-%03d.example/topic-%d/news.html?page=%012d",
			rng.IntN(1000), rng.IntN(10), page)
	}
}

// nextKeys returns the next n keys.
func nextKeys(n int, next func([]byte) []byte) [][]byte {
	keys := make([][]byte, n)
	var all []byte
	ends := make([]int, n)
	for i := range ends {
		all = next(all)
		ends[i] = len(all)
	}
	from := 0
	for i, end := range ends {
		keys[i] = all[from:end:end]
		from = end
	}
	return keys
}
