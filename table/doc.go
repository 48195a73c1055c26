// Package table writes and reads LevelDB's tables: immutable files of sorted keys and values, with Bloom filters that
// rule out most absent keys before a data block is read. goleveldb and C++ LevelDB read these files, and this package
// reads theirs.
//
//	w, err := table.Create("users.ldb", &table.WriterOptions{FilterPolicy: filter.NewBloom(10)})
//	if err != nil { ... }
//	defer w.Abort() // does nothing after Close
//	... w.Append(key, value) ... // in the order of the keys
//	return w.Close()             // the file appears when it is complete and on disk
//
//	r, err := table.Open("users.ldb", &table.ReaderOptions{Cache: cache}) // cache := table.NewCache(512 << 20)
//	if err != nil { ... }
//	defer r.Close()
//	value, err := r.Get(key) // ErrNotFound if the table does not have the key
//
// Tables of a LevelDB or goleveldb database have internal keys: open them with an [InternalComparer], and look up
// user keys with [Reader.Find] and [SearchKey]. Package table/database reads whole databases, package table/merge
// iterates over many tables, and package table/set queries many tables as if they were one.
//
// A Reader is safe for concurrent use. Files can come from anywhere: whatever their bytes are, methods return what is
// true of the file or an error, without panics, endless loops or memory that a file only claims to need.
// The README beside this package has this contract in full, the format of the file, and what makes it fast.
package table
