package table

import "bytes"

// RocksDB's databases, up to 10.x, ingest tables of other programs if two properties are there: a version,
// and 8 bytes for the sequence number that all entries have from then on, in place of 0. Its checks
// look at the first and at the last key alone. So a Writer writes these properties only if nothing
// in the table contradicts them.

// externalFile returns the two properties.
func externalFile() map[string][]byte {
	return map[string][]byte{
		"rocksdb.external_sst_file.version":      {2, 0, 0, 0},
		"rocksdb.external_sst_file.global_seqno": make([]byte, 8),
	}
}

// canBeExternal reports whether RocksDB may take over a table with these options, if its entries
// allow it.
func (o *WriterOptions) canBeExternal() bool {
	_, internal := o.Comparer.(internalComparer)
	return internal && o.Properties && !o.FilterOnly
}

// staysExternal reports whether RocksDB may take the table over with key as its next. The key must
// have sequence number 0 and a kind of LevelDB's, and be the only one of its user key. RocksDB asks a
// filter of the whole table for user keys.
func (w *Writer) staysExternal(key []byte) bool {
	user := InternalFilterKey(key)
	if user == nil {
		return false
	}
	if _, trailer := splitInternal(key); trailer > uint64(KindSet) {
		return false
	}
	if w.entries > 0 && bytes.Equal(user, InternalFilterKey(w.data.LastKey())) {
		return false
	}
	if w.tableFilter == nil {
		return true
	}
	filterKey := filterKeyOf(w.o.FilterKey, key)
	return filterKey != nil && bytes.Equal(filterKey, user)
}
