package rates

import "github.com/sievetable/sievetable/filter"

// tableBloom is a filter.TableBloom: its bytes and its filter, which share memory.
type tableBloom struct {
	bytes  []byte
	filter filter.TableFilter
}

const (
	lineSize          = 64 // bytes of a line
	tableBloomTrailer = 5  // bytes behind the lines, of which the first one is k
)

// emptyTableBloom clears the lines of a filter of one key that has the size for all keys.
func emptyTableBloom(keys, bitsPerKey, k int) (measuredFilter, error) {
	g := filter.NewTableBloom(bitsPerKey).SizedFor(uint64(keys)).NewTableGenerator()
	g.Add(nil)
	b, err := g.Generate()
	if err != nil {
		return nil, err
	}
	lines := len(b) - tableBloomTrailer
	clear(b[:lines])
	if k > 0 {
		b[lines] = byte(k)
	}
	f, err := filter.TableBloom{}.Open(b)
	return tableBloom{b, f}, err
}

func (t tableBloom) add(keys [][]byte) error {
	for _, key := range keys {
		p, _ := filter.ProbeTable(t.filter, key)
		line := t.bytes[lineSize*p.Line:]
		for _, bit := range p.Bits {
			line[bit/8] |= 1 << (bit % 8)
		}
	}
	return nil
}

func (t tableBloom) contains(key []byte) bool { return t.filter.Contains(key) }

func (t tableBloom) size() (m, k int) {
	lines := len(t.bytes) - tableBloomTrailer
	return 8 * lines, int(t.bytes[lines])
}

func (t tableBloom) formula(keys float64) float64 {
	m, k := t.size()
	return filter.PredictTableRate(uint64(keys), uint64(m/(8*lineSize)), k)
}
