package fuse

import (
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
)

// Probes are what a filter looks up for a key. [Probe] returns them.
type Probes struct {
	Hash   uint64    // of the key: the 64-bit XXH3
	Places [3]uint32 // of the fingerprints, counted from the start of the filter
	Want   uint16    // the fingerprint of the key
	Have   uint16    // the exclusive or of those at Places; if it is Want, the key may be in the filter
}

// Probe looks up key in a filter, and returns what decides the answer of Contains. It is for tools
// that explain a filter. ok is false if no [Policy] has opened f.
func Probe(f filter.TableFilter, key []byte) (p Probes, ok bool) {
	var o *openFilter
	switch f := f.(type) {
	case *openFilter:
		o = f
	case *openFilter8:
		o = &f.openFilter
	case *openFilter16:
		o = &f.openFilter
	default:
		return Probes{}, false
	}
	p.Hash = xxh3.Hash(key)
	h := mix(p.Hash + o.seed)
	i, j, k := o.places(h)
	p.Places = [...]uint32{i, j, k}
	p.Want, p.Have = uint16(h^h>>32)&o.mask, o.xor(i, j, k)&o.mask
	return p, true
}
