package table

// PrefixBounds returns the bounds of the keys that start with prefix, in the bytewise order: for
// IterOptions.Lower and Upper. upper is nil, which is no bound, if no key is greater than all of
// them. Set IterOptions.Prefix too, so that filters that hold prefixes are asked. Neither slice shares
// memory with prefix. For the tables of a database, see [InternalPrefixBounds].
func PrefixBounds(prefix []byte) (lower, upper []byte) {
	lower = append([]byte{}, prefix...)
	for n := len(prefix); n > 0; n-- {
		if last := prefix[n-1]; last < 0xff {
			return lower, append(append([]byte{}, prefix[:n-1]...), last+1)
		}
	}
	return lower, nil
}

// InternalPrefixBounds does what PrefixBounds does, for tables of internal keys whose user keys
// are in the bytewise order: it returns the bounds of all versions of the user keys that start with
// prefix.
func InternalPrefixBounds(prefix []byte) (lower, upper []byte) {
	lower, upper = PrefixBounds(prefix)
	if upper != nil {
		upper = SearchKey(upper, nil, MaxSequence)
	}
	return SearchKey(lower, nil, MaxSequence), upper
}
