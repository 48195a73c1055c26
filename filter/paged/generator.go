package paged

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/alloc"
	"github.com/sievetable/sievetable/internal/hashlist"
)

// NewTableGenerator returns an empty generator. It takes 8 bytes of memory for each key, or none if the key equals
// the previous one. Generate allocates only the filter. If its memory is not available, Generate returns an error.
func (p Policy) NewTableGenerator() filter.TableGenerator { return &generator{policy: p} }

type generator struct {
	policy Policy
	shape  Shape
	hashes hashlist.List[uint64]
}

func (g *generator) Add(key []byte) {
	if h := g.shape.Hash(key); !g.hashes.EndsWith(h) {
		g.hashes.Add(h)
		g.shape.hashSum += uint32(h)
	}
}

func (g *generator) Generate() ([]byte, error) {
	defer g.hashes.Reset()
	s := &g.shape
	s.Keys, s.K = uint64(g.hashes.Len()), g.policy.K()
	s.Pages = g.policy.pages(s.Keys)
	size := s.Size()
	if size > math.MaxInt {
		return nil, fmt.Errorf("paged: filter of %d bytes for %d keys (maximum %d): write several tables",
			size, s.Keys, math.MaxInt)
	}
	if err := alloc.Check(size); err != nil {
		return nil, fmt.Errorf("paged: filter of %d keys %w", s.Keys, err)
	}
	contents := s.appendTrailer(make([]byte, size-TrailerSize, size))
	for _, hashes := range g.hashes.Chunks() {
		s.set(contents, hashes)
	}
	for n := range s.Pages {
		page := contents[n*PageSize:][:PageSize]
		binary.LittleEndian.PutUint32(page[PageSize-sumSize:], s.pageSum(page, n))
	}
	return contents, nil
}
