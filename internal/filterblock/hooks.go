// Package filterblock reads and writes filter blocks, for package filter, which shows it to users, and for
// the lookups of package table.
package filterblock

// ReaderOf and WriterOf return what a *filter.BlockReader and a *filter.BlockWriter wrap. Package filter
// sets them: what a table needs of these is not for its users.
var (
	ReaderOf func(blockReader any) *Reader
	WriterOf func(blockWriter any) *Writer
)
