package workload

import (
	"math/rand/v2"
	"slices"
)

// URLs is a list of URLs of W3's form. It takes 8 bytes for each, so that 10⁸ of them fit into memory.
type URLs struct {
	codes []uint64
	words urlWords
}

// W4 returns n URLs and, as absent keys, further URLs that are spread evenly among them. Both are in ascending
// order. n and absent are ≥ 1.
func W4(n, absent int) (present, missing URLs) {
	all := urlCodes(rand.New(rand.NewPCG(8, 8)), n+absent)
	present.words = newURLWords()
	missing = URLs{make([]uint64, 0, absent), present.words}
	present.codes = all[:0]
	for i, c := range all {
		if at := len(missing.codes); at < absent && i >= (2*at+1)*len(all)/(2*absent) {
			missing.codes = append(missing.codes, c)
		} else {
			present.codes = append(present.codes, c)
		}
	}
	return present, missing
}

// Len returns the number of URLs.
func (u URLs) Len() int { return len(u.codes) }

// Append appends URL number i, which has 64 bytes.
func (u URLs) Append(dst []byte, i int) []byte { return u.words.append(dst, u.codes[i]) }

// Slice returns URLs i to j−1. It shares their memory.
func (u URLs) Slice(i, j int) URLs { return URLs{u.codes[i:j], u.words} }

// Shuffle puts the URLs into a random order, which is the same each time.
func (u URLs) Shuffle() {
	rng := rand.New(rand.NewPCG(10, 10))
	rng.Shuffle(len(u.codes), func(i, j int) { u.codes[i], u.codes[j] = u.codes[j], u.codes[i] })
}

// Sort sorts the URLs.
func (u URLs) Sort() { slices.Sort(u.codes) }
