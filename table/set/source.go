package set

import "context"

// A Source has the tables of a set, by name. [NewDir] returns one of a directory; the module
// table/cloud has one of object storage. It must be safe for concurrent use.
type Source interface {
	// ReadAt reads len(p) bytes of the table name, from off on. It returns what
	// io.ReaderAt.ReadAt returns: an error if n < len(p), and io.EOF where the table ends. When
	// ctx is done, it returns an error soon.
	ReadAt(ctx context.Context, name string, p []byte, off int64) (n int, err error)
}

// A Forgetter is a Source that keeps something for each table, such as an open file. A [Set]
// calls Forget when it does not read the table any more.
type Forgetter interface {
	Forget(name string)
}
