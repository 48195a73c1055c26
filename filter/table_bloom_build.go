package filter

import (
	"encoding/binary"
	"fmt"

	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/internal/hashlist"
)

// Size returns the length in bytes of a filter of n keys.
func (p TableBloom) Size(n uint64) int {
	if n == 0 {
		return lineTrailer
	}
	return int(p.lines(n)*lineSize + lineTrailer)
}

// BitsPerKey returns the argument of NewTableBloom, or 0 if it is negative.
func (p TableBloom) BitsPerKey() int { return p.bitsPerKey }

// K returns the number of bits that a key sets, 1 to 6.
func (p TableBloom) K() int {
	switch p.bitsPerKey { // as in versions of Pebble after 2.1
	case 4:
		return 3
	case 9:
		return 5
	}
	return min(bloom.K(uint64(p.bitsPerKey)), 6) // more only fill the line: their sequence depends on 18 bits of the hash
}

// Rate returns the false-positive rate of n random keys that [PredictTableRate] predicts.
func (p TableBloom) Rate(n uint64) float64 {
	return PredictTableRate(n, p.lines(n), p.K())
}

// lines returns the number of lines of a filter of n keys. It is odd, so that the line depends on all bits of a
// hash.
func (p TableBloom) lines(n uint64) uint64 {
	n = max(n, p.keys)
	bitsPerKey := uint64(p.bitsPerKey)
	if bitsPerKey > 0 && n > maxLines*lineBits/bitsPerKey {
		return maxLines
	}
	lines := (n*bitsPerKey+lineBits-1)/lineBits | 1
	if lines < fewLines && bitsPerKey <= 10 {
		return lines // to match Pebble's bytes
	}
	return leastAliased(lines)
}

type tableBloomGenerator struct {
	policy TableBloom
	hashes hashlist.List[uint32]
}

func (g *tableBloomGenerator) Add(key []byte) {
	if h := bloom.Hash(key, bloom.SignedTail); !g.hashes.EndsWith(h) {
		g.hashes.Add(h)
	}
}

// Generate returns the filter. Without keys, it has no lines and k = 0, as in RocksDB.
func (g *tableBloomGenerator) Generate() ([]byte, error) {
	if g.hashes.Len() == 0 {
		return make([]byte, lineTrailer), nil
	}
	n, k := g.policy.lines(uint64(g.hashes.Len())), g.policy.K()
	if err := alloc.Check(n*lineSize + lineTrailer); err != nil {
		return nil, fmt.Errorf("filter: table filter of %d lines of %d bytes %w", n, lineSize, err)
	}
	filter := make([]byte, n*lineSize+lineTrailer)
	filter[n*lineSize] = byte(k)
	binary.LittleEndian.PutUint32(filter[n*lineSize+1:], uint32(n))
	f := newTableBloomFilter(filter, n, k)
	for _, hashes := range g.hashes.Chunks() {
		f.setAll(hashes)
	}
	return filter, nil
}

// setAll sets the bits of the keys with these hashes.
func (f *tableBloomFilter) setAll(hashes []uint32) {
	for _, h := range hashes {
		line, delta := f.line(h), bloom.Delta(h)
		for range f.k {
			line[h>>3&(lineSize-1)] |= 1 << (h & 7)
			h += delta
		}
	}
}

// With fewer than fewLines lines, some keys of a line always share their bits. A number of lines is then good enough
// if they share no more than usual.
const fewLines = 2048

const (
	shift       = 1 << 17 // of the hash for δ
	maxMultiple = 1 << 23
)

// leastAliased returns an odd number ≥ lines at which few keys of a line share their bits. Many do if a small
// multiple of the number is near a multiple of 2¹⁷. Below fewLines, matching Pebble's bytes matters more, although
// with 771, 1057 or 1285 lines the rate is up to 1.37 times as high.
func leastAliased(lines uint64) uint64 {
	enough := 0.0
	if lines < fewLines {
		enough = usualAliasing(lines)
	}
	best, least := lines, aliasing(lines)
	end := min(lines+max(min(30, lines/64), lines/500), maxLines)
	for next := lines + 2; next <= end && least > enough; next += 2 {
		if a := aliasing(next); a < least {
			best, least = next, a
		}
	}
	return best
}

// usualAliasing returns a bound that aliasing exceeds only for few numbers of that size.
func usualAliasing(lines uint64) float64 {
	return 1.1 * maxMultiple / float64(lines) * (lineBits / 2) / shift
}

// aliasing measures in how many ways keys of one line share their bits. Their hashes differ by multiples of the
// number of lines. The bits of a key depend on the hash mod 512 and on the hash / 2¹⁷: if such a multiple is near a
// multiple of 2¹⁷, some bits of many keys coincide. Multiples > maxMultiple are too rare to matter.
func aliasing(lines uint64) float64 {
	if lines < 512 {
		return 0 // so many multiples are near a multiple of 2¹⁷ that none of them matters
	}
	sum := 0.0
	for multiple := lines; multiple <= maxMultiple; multiple += lines {
		distance := multiple % shift
		distance = min(distance, shift-distance)
		sum += max(0, 1-float64(distance)/(lineBits/2))
	}
	return sum
}
