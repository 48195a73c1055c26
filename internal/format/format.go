// Package format has the facts of the LevelDB table format that several packages
// need, each in one place. The format is described in package table, its blocks in
// package block, and both in LevelDB's doc/table_format.md.
package format

import "regexp"

const (
	// FooterLen is how many bytes the footer takes, at the end of the file.
	FooterLen = 48

	// TrailerLen is how many bytes follow each block: its compression id, and a
	// checksum of 4 bytes.
	TrailerLen = 5

	// Magic is the number that ends the footer, as u64le.
	Magic = 0xdb4775248b80fb57

	// InternalTrailerLen is how many bytes end an internal key: sequence number
	// and kind.
	InternalTrailerLen = 8
)

// What the names of meta blocks in the metaindex start with, or are.
const (
	FilterPrefix      = "filter."     // and the policy's name: a filter block
	TableFilterPrefix = "fullfilter." // and the policy's name: the filter of the whole table (RocksDB, Pebble)
	PropertiesName    = "rocksdb.properties"
)

// MetaName matches the names of meta blocks in LevelDB's, RocksDB's and Pebble's
// tables.
var MetaName = regexp.MustCompile(`^((full|partitioned)?filter|rocksdb|pebble)\.`)
