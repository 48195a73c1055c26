package table

import "github.com/sievetable/sievetable/internal/bloom"

// A HashedKey is a key that many tables are asked for: see [Reader.MayContainHashed]. It keeps the hash
// of the key that filters of [filter.TableBloom] depend on, so that it is computed once. [HashKey]
// returns one. It must not be used by two goroutines at once.
type HashedKey struct {
	key    []byte
	hash   bloom.TableHash
	hashed bool
}

// HashKey returns a HashedKey of key. It keeps the slice, whose bytes must stay the same while it is
// used. The hash is computed when a table first needs it.
func HashKey(key []byte) HashedKey { return HashedKey{key: key} }

// MayContainHashed is [Reader.MayContain]. For a key that is asked of many tables, such as those of the
// levels of a storage engine, it takes less time, if the tables have filters of [filter.TableBloom] and
// no FilterKey.
func (r *Reader) MayContainHashed(k *HashedKey) bool { return r.mayContain(k.key, k) }

// tableBloom returns the key's hash for filters of filter.TableBloom.
func (k *HashedKey) tableBloom() bloom.TableHash {
	if !k.hashed {
		k.hash, k.hashed = bloom.TableHash(bloom.Hash(k.key, bloom.SignedTail)), true
	}
	return k.hash
}

// A hashFilter is a filter of filter.TableBloom, which can be asked by the hash of a key.
type hashFilter interface {
	ContainsHash(h bloom.TableHash) bool
}

// denies reports whether the filter of the table says by the hash of the key that the table does not have
// it, and may be believed. If it does not, there may be more to ask.
func (t *openTable) denies(k *HashedKey) bool {
	if t.byHash == nil || t.trust.state.Load() == distrusted || t.byHash.ContainsHash(k.tableBloom()) {
		return false
	}
	mayContain, _ := t.believe(false, true)
	return !mayContain
}
