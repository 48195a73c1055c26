package layout

// Properties describe a table: its contents, and the options that it was written with. Tables have them if they were
// written with Properties of table.WriterOptions, or by RocksDB or Pebble, whose format this is. Properties of
// table.Reader returns them. If the table does not have a property, its field is zero. Properties are not verified.
type Properties struct {
	Entries      uint64 // number of entries, including deletions
	Deletions    uint64 // number of entries that are deletions; 0 unless the keys are internal keys
	RawKeySize   uint64 // bytes of all keys, uncompressed and whole
	RawValueSize uint64 // bytes of all values, uncompressed
	DataBlocks   uint64 // number of data blocks
	DataSize     uint64 // bytes of the data blocks in the file, without trailers
	IndexSize    uint64 // bytes of the index block, uncompressed
	FilterSize   uint64 // bytes of the filter blocks in the file, without trailers

	// FilterEntries is the number of keys and prefixes in the table filter.
	FilterEntries uint64

	// FilterPolicy is the name of the filter's policy. If there are two filters, it is the table filter's.
	FilterPolicy string

	// FilterPrefix is the name of the Prefixer whose prefixes the filters contain.
	FilterPrefix string

	// Comparer is the name of the Comparer; for internal keys, of the user keys' Comparer.
	Comparer string

	// Compression is "NoCompression", "Snappy", or another engine's name for a codec.
	Compression string

	// These are options of the same names in table.WriterOptions.
	BlockSize       uint64
	RestartInterval uint64
	FilterBaseLg    uint64

	// FilterOnly reports whether the table has only a filter, without entries.
	FilterOnly bool

	// Other contains all other properties, by name.
	Other map[string][]byte
}
