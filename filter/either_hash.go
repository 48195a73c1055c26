package filter

import "github.com/sievetable/sievetable/internal/bloom"

// EitherHash returns a Policy that asks LevelDB's filters by two hashes: as p does, and by an older
// hash. A key may be in a filter if one of them says so. The name "leveldb.BuiltinBloomFilter" stands
// for filters of both:
//
//   - goleveldb takes all bytes of a key as unsigned, as [Bloom] does.
//   - C++ LevelDB before version 1.18 took the last 1 to 3 bytes of a key as signed, those
//     behind its last whole 4 bytes. Since 1.18 it takes them as unsigned, and its filters
//     have the name "leveldb.BuiltinBloomFilter2".
//
// Only keys that have a byte ≥ 0x80 among these 1 to 3 differ. They have about twice the
// false positives, and other keys have no more. Package table reads a filter block that is
// listed under the first name alone with EitherHash. Name, aliases, Check and new filters are
// those of p.
func EitherHash(p Policy) Policy { return eitherHash{p} }

type eitherHash struct{ Policy }

func (e eitherHash) Contains(filter, key []byte) bool {
	return e.Policy.Contains(filter, key) || bloom.MayContainSigned(filter, key)
}

// Aliases are p's, if p is an Aliaser.
func (e eitherHash) Aliases() []string {
	if a, ok := e.Policy.(Aliaser); ok {
		return a.Aliases()
	}
	return nil
}

// Check is p's, if p is a Checker.
func (e eitherHash) Check(filter []byte) error {
	if c, ok := e.Policy.(Checker); ok {
		return c.Check(filter)
	}
	return nil
}
