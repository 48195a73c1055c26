// Package verified passes on the keys that Verify of package table checks, so that further checks of keys need not
// read the table again.
package verified

// Verify calls Verify of reader, a Reader of package table, which sets this variable. It calls see for each key of
// each sound data block, in file order, with the block's offset and length. all reports whether these are all keys
// of the table.
var Verify func(reader any, see func(key []byte, offset, length uint64)) (all bool, err error)
