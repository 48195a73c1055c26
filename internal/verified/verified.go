// Package verified gives the keys that Verify of package table checks to those who check more of them, so that
// they need not read the table again.
package verified

// Verify is Verify of a Reader of package table, which sets it. It calls see with each key of each sound
// data block, in the order of the file. all reports whether these are all keys of the table.
var Verify func(reader any, see func(key []byte)) (all bool, err error)
