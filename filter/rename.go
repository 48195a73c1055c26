package filter

// Rename returns a Policy that has the given name and no aliases, and builds and
// reads filters as p does. Use it to list a table's filter under the name of one
// engine only:
//
//	filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter2") // C++ LevelDB
func Rename(p Policy, name string) Policy {
	return renamed{Policy: p, name: name}
}

type renamed struct {
	Policy
	name string
}

func (r renamed) Name() string { return r.name }

// Check is p's, if p is a Checker.
func (r renamed) Check(filter []byte) error {
	if c, ok := r.Policy.(Checker); ok {
		return c.Check(filter)
	}
	return nil
}
