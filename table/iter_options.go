package table

// IterOptions say which entries an Iter returns, and how it reads them. The zero value returns all entries.
type IterOptions struct {
	// If Lower is not nil, the Iter returns only keys >= Lower.
	//
	// If Lower and Upper lie within one prefix that the filters hold (see WriterOptions.FilterPrefix), the Iter
	// skips the data blocks that the filters rule out, as with Prefix. That is so for bytewise user keys, if
	// filters hold whole user keys and the bounds are no wider than those of PrefixBounds.
	//
	// If the keys are internal keys, so are Lower and Upper: SearchKey(nil, user, MaxSequence)
	// is <= all versions of a user key, and > all of the keys before. See InternalPrefixBounds.
	Lower []byte

	// If Upper is not nil, the Iter returns only keys < Upper.
	Upper []byte

	// FilterKey is the filter key of every entry that you want: what ReaderOptions.FilterKey returns
	// for its key. The Iter skips data blocks whose filters rule it out, without reading them. It may return
	// entries with other filter keys, so set Lower and Upper too. If FilterKey is nil, no filter is
	// consulted for it.
	//
	// For the versions of one user key in a database's table, it is the user key. For keys with a
	// common prefix, it is the prefix, if that is the filter key of each of them. Get and Find then
	// check the filter for the prefix only.
	FilterKey []byte

	// Prefix is the start of the key of every entry that you want or, where filters hold filter keys, of its
	// filter key, such as the user key in a database's table. If the filters of the table hold prefixes (see
	// WriterOptions.FilterPrefix), the Iter skips the data blocks that they rule out: a scan of an absent
	// prefix mostly reads no data block. It may return other entries, so set Lower and Upper too: see
	// PrefixBounds. In bytewise order these bounds do without Prefix. Prefix has no effect if the Prefixer gives
	// no prefix for it, if the Reader does not know the Prefixer, or if FilterKey is set.
	Prefix []byte

	// If DontFillCache is set, blocks that the Iter reads are not added to the Cache. Set it if these
	// blocks will not be needed again soon, as in a compaction.
	DontFillCache bool

	// ReadAhead is how many bytes Next reads at once, up to 1 GiB, when it reaches a block that is not in
	// memory: at least that block, and as many of the following blocks as fit. Set it if each read has a
	// high latency. The buffer stays in memory until Close. If such a read fails, the Iter reads block by
	// block from then on. If ReadAhead is <= 0, the Iter reads one block at a time.
	ReadAhead int

	// If OnLoss is not nil, it is called when a move reaches a corrupt data block: one with a wrong checksum, that
	// cannot be decompressed or decoded, or whose keys are out of order or not between its separators. If OnLoss
	// returns true, the move goes on with the next block in its direction. Otherwise it fails with l.Err. If OnLoss
	// is nil, every such move fails.
	//
	// It is called each time that a move reads the block: once in a scan from one end to the other, and again if a
	// seek or a change of direction reaches the block again. It is not called for blocks that the Iter does not
	// read: those out of its bounds, excluded by a filter, or in the Cache. A corrupt index, and errors of the
	// source, fail the move. OnLoss must not use the Iter.
	//
	// In package merge, older versions of the lost entries can show in their place, also of keys that were deleted.
	// To prevent that, leave out the keys from l.From to l.To of the other tables, or return false.
	OnLoss func(l Loss) bool
}

// A Loss is a part of a table, a set or a database that cannot be read: a data block, a whole file, or writes of a
// log. The OnLoss options of iterators, sets and databases decide whether reading goes on without it.
type Loss struct {
	File   string // the table or log, as in errors; "" for a Reader without a Name
	Offset int64  // of the data block, or of the damage in the log; -1: the whole file is lost

	// From and To bound the lost keys: they are >= From and <= To. nil is no bound. In databases they are user
	// keys. The keys of lost writes of a log are unknown. The slices must not be changed.
	From, To []byte

	// Lost writes of a log have sequence numbers >= FirstSequence and, unless LastSequence is 0, <= LastSequence.
	FirstSequence, LastSequence uint64

	// OlderShow reports whether older versions of the lost entries can show in their place, also of keys that
	// were deleted.
	OlderShow bool

	// Err says what is wrong. For a data block it is a [*CorruptionError].
	Err error
}

// loss returns the loss of a data block.
func (e *CorruptionError) loss() Loss {
	return Loss{File: e.File, Offset: e.Offset, From: e.KeysAfter, To: e.KeysUpTo, Err: e}
}
