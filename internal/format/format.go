// Package format defines those parts of LevelDB's table format that several packages need. Package table describes
// the file format, and package block the block format. So does LevelDB's doc/table_format.md.
package format

import (
	"encoding/binary"
	"errors"
	"regexp"
)

const (
	// FooterLen is the length of the footer at the end of the file.
	FooterLen = 48

	// TrailerLen is the length of the trailer that follows each block: its compression
	// id, and a checksum of 4 bytes.
	TrailerLen = 5

	// Magic is the last 8 bytes of the footer, as u64le.
	Magic = 0xdb4775248b80fb57

	// InternalTrailerLen is the length of the trailer of an internal key: sequence
	// number and kind.
	InternalTrailerLen = 8
)

// ErrPadding is the damage of a footer whose padding is not zeros. Engines do not read the padding.
var ErrPadding = errors.New("the table can be read")

// Names of meta blocks in the metaindex. A filter's name is a prefix followed by the name of its policy.
const (
	FilterPrefix      = "filter."     // for a filter block
	TableFilterPrefix = "fullfilter." // for a table filter (RocksDB, Pebble)
	PropertiesName    = "rocksdb.properties"
	DigestName        = "sievetable.digest" // digest of the data blocks
	NeverName         = "sievetable.never"  // exceptions of the table filter
	PrefixName        = "sievetable.prefix" // properties, if filters contain prefixes
)

// MetaName matches the names of meta blocks in the tables of LevelDB, RocksDB, Pebble and this
// module.
var MetaName = regexp.MustCompile(`^((full|partitioned)?filter|rocksdb|pebble|sievetable)\.`)

// SplitInternal splits an internal key of >= 8 bytes. trailer is sequence<<8 | kind.
func SplitInternal(key []byte) (user []byte, trailer uint64) {
	n := len(key) - InternalTrailerLen
	return key[:n:n], binary.LittleEndian.Uint64(key[n:])
}

// AppendInternal appends the trailer to a user key.
func AppendInternal(user []byte, trailer uint64) []byte {
	return binary.LittleEndian.AppendUint64(user, trailer)
}

// A FilterSpan is the location of a data block's filter in the filter block. Get it once with filter.BlockReader.Span
// and store it to check many keys of one data block: finding it takes about as long as ContainsInSpan.
type FilterSpan struct{ Start, Limit uint32 }

// NoFilter is the FilterSpan of a data block that has no filter, or one with corrupt offsets.
var NoFilter = FilterSpan{1, 0}
