package filter

// A TablePolicy builds and reads table filters: one filter of all keys of a table.
// [TableBloom] is the one of RocksDB and Pebble. A TablePolicy is not a [Policy]: a
// good encoding for a million keys is a poor one for the thirty of a data block, and
// the other way round. It must be safe for concurrent use.
type TablePolicy interface {
	// Name identifies the encoding of the filters. A table stores the name, and a
	// reader uses a filter only if it has a TablePolicy of that name.
	Name() string

	// NewTableGenerator returns an empty TableGenerator.
	NewTableGenerator() TableGenerator

	// Open checks the form of filter once and returns it ready for lookups. The
	// TableFilter may keep the slice, which the caller must not change any more. A
	// filter that Open cannot use is an error: one that is damaged, or of an
	// unknown version. Open must not panic, whatever the bytes of filter.
	Open(filter []byte) (TableFilter, error)
}

// A ReadAliaser is a [TablePolicy] that also reads filters that a table lists under other names, and
// does not write them. A reader finds a filter by Name, by these names, and by those of an [Aliaser].
type ReadAliaser interface {
	// ReadAliases returns the other names.
	ReadAliases() []string
}

// A TableGenerator collects the keys of one table and builds their filter for a
// [TablePolicy]. One goroutine at a time may use it.
type TableGenerator interface {
	// Add adds a key. It must not keep the slice. The same key may be added more
	// than once, as when a table has several versions of it.
	Add(key []byte)

	// Generate returns a filter of all keys added, at least one byte if there are
	// keys. The slice is the caller's, and the TableGenerator is not used again. An
	// error says why there is no filter, for example because the encoding cannot
	// hold that many keys. A table's Writer then returns it from Close.
	Generate() ([]byte, error)
}

// A TableFilter is the filter of one table, ready for lookups, as [TablePolicy.Open]
// returns it. It must be safe for concurrent use.
type TableFilter interface {
	// Contains reports whether key may be in the table. If it returns false, the
	// key is certainly not in it. Contains must not keep or change key. It must not
	// panic, even if bits of the filter are damaged.
	Contains(key []byte) bool
}

// A BatchFilter is a [TableFilter] that answers for many keys in less time than one by one: the
// processor fetches what several of them need at the same time. Readers use it for GetMany.
type BatchFilter interface {
	TableFilter

	// ContainsMany sets results[i] to what Contains returns for keys[i]. It panics if keys and
	// results do not have the same length. It must not keep the slices, or change keys.
	ContainsMany(keys [][]byte, results []bool)
}
