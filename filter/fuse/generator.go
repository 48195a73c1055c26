package fuse

import (
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/hashlist"
)

// ErrTooManyKeys is the error of Generate for more than [MaxKeys] keys.
var ErrTooManyKeys = fmt.Errorf(
	"fuse: more than %d keys in one filter: write several tables, or use another filter", MaxKeys)

// NewTableGenerator returns an empty generator. It takes 8 bytes of memory for each key, or none if the key equals
// the previous one. Generate temporarily takes about 23 more. Duplicate keys make it slower, but the filter no
// larger.
//
// Without keys, Generate returns no filter. For more than [MaxKeys] keys, it returns [ErrTooManyKeys].
func (p Policy) NewTableGenerator() filter.TableGenerator {
	return &generator{bits: p.Bits()}
}

type generator struct {
	bits   int
	hashes hashlist.List[uint64]
	more   bool // than MaxKeys
}

func (g *generator) Add(key []byte) {
	h := xxh3.Hash(key)
	switch {
	case g.hashes.EndsWith(h):
	case g.hashes.Len() == MaxKeys:
		g.more = true
	default:
		g.hashes.Add(h)
	}
}

func (g *generator) Generate() ([]byte, error) {
	defer g.hashes.Reset()
	if g.more {
		return nil, ErrTooManyKeys
	}
	if g.hashes.Len() == 0 {
		return nil, nil
	}
	b := builderPool.Get().(*builder)
	defer b.release()
	return b.build(&g.hashes, g.bits)
}
