package rates

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/sievetable/sievetable/internal/figures"
)

// A keyShape is a kind of keys.
type keyShape struct {
	name         string
	label, about string // texts of a chart: at its lines, and below the panels
	seed         int    // in addition to Config.Seed

	own  [][]byte // the user's keys, if the shape is not generated
	next func(rng *rand.Rand) func(dst []byte) []byte
}

// keyShapes are the generated shapes.
var keyShapes = []keyShape{
	{"random", "random", "16 random bytes", 0, nil, random},
	{"sequential", "sequential", "consecutive numbers, as 8 bytes", 1, nil, sequential},
	{"decimal", "decimal", "user000000000042 and on", 2, nil, decimal},
	{"urls", "URLs", "64 bytes, with long shared prefixes", 3, nil, urls},
	{"emails", "e-mails", "ada.kay42@mail.example", 4, nil, emails},
}

// Shapes returns the names of the generated shapes.
func Shapes() []string {
	var names []string
	for _, s := range keyShapes {
		names = append(names, s.name)
	}
	return names
}

// shapes returns the shapes to measure.
func (c Config) shapes() []keyShape {
	var all []keyShape
	if c.Own != nil {
		all = append(all, keyShape{name: "own", label: "your keys", about: figures.Grouped(len(c.Own)) + " keys", own: c.Own})
	}
	for _, name := range c.Shapes {
		i := slices.IndexFunc(keyShapes, func(s keyShape) bool { return s.name == name })
		all = append(all, keyShapes[i])
	}
	return all
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

// urls generates URLs of random sites and topics. The page number makes them distinct.
func urls(rng *rand.Rand) func([]byte) []byte {
	page := rng.Uint64N(1e11)
	return func(dst []byte) []byte {
		page += 1 + rng.Uint64N(1000)
		return fmt.Appendf(dst, "https://www.site-%03d.example/topic-%d/news.html?page=%012d",
			rng.IntN(1000), rng.IntN(10), page)
	}
}

// Parts of e-mail addresses.
var (
	firstNames = []string{"ada", "alan", "barbara", "dennis", "donald", "edsger", "frances", "grace", "jean", "john", "ken", "margaret", "niklaus", "radia", "sophie", "tony"}
	lastNames  = []string{"allen", "backus", "dijkstra", "hamilton", "hoare", "hopper", "kay", "knuth", "liskov", "lovelace", "perlman", "ritchie", "thompson", "turing", "wilson", "wirth"}
	providers  = []string{"mail.example", "example.com", "example.net", "example.org", "post.example.org", "webmail.example.com"}
)

// emails generates addresses of random people and providers. The number makes them distinct.
func emails(rng *rand.Rand) func([]byte) []byte {
	number := rng.Uint64N(1000)
	return func(dst []byte) []byte {
		number += 1 + rng.Uint64N(20)
		return fmt.Appendf(dst, "%s.%s%d@%s", pick(rng, firstNames), pick(rng, lastNames), number, pick(rng, providers))
	}
}

func pick(rng *rand.Rand, words []string) string { return words[rng.IntN(len(words))] }

// start returns a function that returns the next n keys, or the remaining ones if there are fewer. All keys are
// distinct. The user's keys are in random order.
func (s keyShape) start(rng *rand.Rand) func(n int) [][]byte {
	if s.own == nil {
		next := s.next(rng)
		return func(n int) [][]byte { return nextKeys(n, next) }
	}
	order := permutation(rng, len(s.own))
	return func(n int) [][]byte {
		keys := make([][]byte, min(n, len(order)))
		for i := range keys {
			keys[i] = s.own[order[i]]
		}
		order = order[len(keys):]
		return keys
	}
}

// nextKeys returns the next n keys. They share large allocations, since the allocator rounds up each one.
func nextKeys(n int, next func([]byte) []byte) [][]byte {
	const piece, longest = 1 << 16, 1 << 8
	keys := make([][]byte, n)
	var all []byte
	for i := range keys {
		if cap(all)-len(all) < longest {
			all = make([]byte, 0, piece)
		}
		start := len(all)
		all = next(all)
		keys[i] = all[start:len(all):len(all)]
	}
	return keys
}
