package filter

import "errors"

// A TableReader asks the filter of a whole table. It is immutable, and safe for
// concurrent use as its Policy is.
type TableReader struct {
	policy Policy
	filter []byte
	lines  lines // if the policy is TableBloom, which is then not asked
}

// OpenTable returns a TableReader on filter, which it keeps: the caller must not
// change it any more. A filter that the policy, as a [Checker], finds something wrong
// with is an error.
func OpenTable(filter []byte, p Policy) (*TableReader, error) {
	if p == nil {
		return nil, errors.New("filter: no policy")
	}
	t := &TableReader{policy: p, filter: filter}
	var err error
	switch p := p.(type) {
	case TableBloom:
		t.lines, err = linesOf(filter)
	case Checker:
		err = p.Check(filter)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// Contains reports whether key may be in the table: false means that it certainly
// is not.
func (t *TableReader) Contains(key []byte) bool {
	if t.lines.n > 0 {
		return t.lines.mayContain(signedHash(key))
	}
	return t.policy.Contains(t.filter, key)
}
