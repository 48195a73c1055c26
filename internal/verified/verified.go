// Package verified gives the keys that Verify of package table checks to those who check more of them, so that
// they need not read the table again.
package verified

// Verify is Verify of a Reader of package table, which sets it. It calls see with each key of each sound
// data block, in the order of the file, and with the block's offset and length. all reports whether these are all
// keys of the table.
var Verify func(reader any, see func(key []byte, offset, length uint64)) (all bool, err error)
