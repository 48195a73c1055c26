package filter

import (
	"fmt"
	"sync/atomic"
)

// Union adds all keys of other, which must have the same size and k: else it is an error, and
// nothing is added. other stays as it is. The keys whose Add to other returned before the call
// are in f when Union returns. Keys may be added to both filters meanwhile, and f loses none.
func (f *DynamicBloom) Union(other *DynamicBloom) error {
	if err := f.checkEqualForm("union", other); err != nil {
		return err
	}
	for i := range f.words {
		if bits := atomic.LoadUint32(&other.words[i]); bits != 0 {
			atomic.OrUint32(&f.words[i], bits)
		}
	}
	return nil
}

// Intersect removes the bits that other has not set. Both must have the same size and k: else it is
// an error, and nothing changes. other stays as it is.
//
// A key that was in both filters before the call stays in f, with all that is said of false positives at
// the function [Intersect]. Keys may be added to both filters meanwhile. Of these f keeps those that other
// had before the call. It may deny those that are added to f during the call and are not in other, or
// not yet: add them again when Intersect has returned.
func (f *DynamicBloom) Intersect(other *DynamicBloom) error {
	if err := f.checkEqualForm("intersection", other); err != nil {
		return err
	}
	for i := range f.words {
		atomic.AndUint32(&f.words[i], atomic.LoadUint32(&other.words[i]))
	}
	return nil
}

func (f *DynamicBloom) checkEqualForm(operation string, other *DynamicBloom) error {
	return checkEqualForm(operation, f.size, other.size, f.k, other.k)
}

// checkEqualForm returns an error unless two filters have bit arrays of equal sizes, in bytes, and the same k.
func checkEqualForm(operation string, size, otherSize, k, otherK int) error {
	if size != otherSize || k != otherK {
		return fmt.Errorf("filter: %s of filters of %d and %d bytes, with k = %d and %d: want equal sizes and k",
			operation, size+1, otherSize+1, k, otherK)
	}
	return nil
}
