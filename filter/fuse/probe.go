package fuse

import (
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter"
)

// Probes are the fingerprints that a lookup checks.
type Probes struct {
	Hash   uint64    // 64-bit XXH3 of the key
	Places [3]uint32 // indexes of the fingerprints
	Want   uint16    // the fingerprint of the key
	Have   uint16    // the exclusive or of the fingerprints; if it is Want, the key may be in the filter
}

// Probe returns the fingerprints that a lookup of key checks. If f does not come from [Policy.Open], ok is false.
func Probe(f filter.TableFilter, key []byte) (p Probes, ok bool) {
	own, ok := f.(interface{ self() *openFilter })
	if !ok {
		return Probes{}, false
	}
	o := own.self()
	p.Hash = xxh3.Hash(key)
	h := mix(p.Hash + o.seed)
	i, j, k := o.places(h)
	p.Places = [...]uint32{i, j, k}
	p.Want, p.Have = uint16(h^h>>32)&o.mask, o.xor(i, j, k)&o.mask
	return p, true
}

// self returns f, also for an openFilter8 and an openFilter16, which embed it.
func (f *openFilter) self() *openFilter { return f }
