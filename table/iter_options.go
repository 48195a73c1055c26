package table

// IterOptions are options of an Iter. The zero value iterates over all entries.
type IterOptions struct {
	// Lower and Upper, if not nil, are the bounds of the keys: Lower <= key < Upper. For internal keys, use
	// [SearchKey] with MaxSequence, or [InternalPrefixBounds]. If the bounds are within one prefix that the filters
	// hold, filters rule out data blocks as with Prefix, for bytewise user keys and filters of whole user keys.
	Lower, Upper []byte

	// FilterKey is the filter key of all wanted entries: what [ReaderOptions].FilterKey returns for their keys. Data
	// blocks whose filters rule it out are skipped. Set Lower and Upper too. Nil means that filters are not checked
	// for it.
	FilterKey []byte

	// Prefix is the start of the filter keys of all wanted entries. If filters hold prefixes
	// ([WriterOptions].FilterPrefix), data blocks that they rule out are skipped. Set Lower and Upper too, by
	// [PrefixBounds]. It has no effect if FilterKey is set.
	Prefix []byte

	// If DontFillCache is set, blocks that the Iter reads are not added to the Cache.
	DontFillCache bool

	// ReadAhead is the number of bytes that Next reads at once, up to 1 GiB. Set it if reads are slow. The buffer
	// lasts until Close. If such a read fails, blocks are read one by one. If it is <= 0, each block is read by
	// itself.
	ReadAhead int

	// If OnLoss is not nil, it is called when a move reads a corrupt data block. If it returns true, the move
	// continues with the next block; otherwise it fails with l.Err. A corrupt index and I/O errors fail the move.
	// OnLoss must not use the Iter. In package merge, older versions of lost entries may then appear.
	OnLoss func(l Loss) bool
}

// A Loss is an unreadable part of a table, a set or a database: a data block, a file, or writes of a log. The OnLoss
// options of iterators, sets and databases decide whether reading continues without it.
type Loss struct {
	File   string // the table or log, as in errors; "" for a Reader without a Name
	Offset int64  // of the data block, or of the damage in the log; -1: the whole file is lost

	// From <= key <= To for all lost keys, user keys in databases. Nil means no bound. The caller must not modify the
	// slices.
	From, To []byte

	// The lost writes of a log have sequence numbers >= FirstSequence and, unless LastSequence is 0, <= LastSequence.
	FirstSequence, LastSequence uint64

	// OlderShow reports whether older versions of the lost entries, also deleted ones, may appear.
	OlderShow bool

	// Err says what is wrong: for a data block a [*CorruptionError].
	Err error
}

// loss returns the loss of a data block.
func (e *CorruptionError) loss() Loss {
	return Loss{File: e.File, Offset: e.Offset, From: e.KeysAfter, To: e.KeysUpTo, Err: e}
}
