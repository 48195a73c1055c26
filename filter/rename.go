package filter

// Rename returns p under another name, and that name only: p's aliases are
// dropped. The filters' bits stay p's. With it a table's filter is listed as
// exactly one engine lists it:
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

// Check is the renamed Policy's, if it has one.
func (r renamed) Check(filter []byte) error {
	if c, ok := r.Policy.(Checker); ok {
		return c.Check(filter)
	}
	return nil
}
