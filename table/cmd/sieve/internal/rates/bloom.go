package rates

import (
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A blockBloom is a filter of filter.Bloom.
type blockBloom []byte

func planBloom(keys int, rate float64) (int, error) {
	s, err := filter.SizeForSingleRate(uint64(keys), rate)
	if err != nil {
		return 0, cli.UsageErrorf("-p is %g, and one bloom filter of %d keys has more false positives, however many bits it has: use a higher rate, or --policy fuse", rate, keys)
	}
	return s.BitsPerKey, nil
}

func emptyBloom(keys, bitsPerKey, k int) (measuredFilter, error) {
	g := filter.NewBloom(bitsPerKey).NewGenerator()
	for range keys {
		g.Add(nil)
	}
	var b filter.Bytes
	g.Generate(&b)
	clear(b[:len(b)-1])
	if k > 0 {
		b[len(b)-1] = byte(k)
	}
	return blockBloom(b), nil
}

func (b blockBloom) add(keys [][]byte) error {
	for _, key := range keys {
		p, err := filter.Probe(b, key)
		if err != nil {
			return err
		}
		for _, bit := range p.Bits {
			b[bit/8] |= 1 << (bit % 8)
		}
	}
	return nil
}

func (b blockBloom) contains(key []byte) bool { return filter.Bloom{}.Contains(b, key) }

func (b blockBloom) size() (m, k int) { return 8 * (len(b) - 1), int(b[len(b)-1]) }

func (b blockBloom) formula(keys float64) float64 {
	m, k := b.size()
	return formulaRate(keys, int64(m), k)
}
