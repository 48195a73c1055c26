// Package comparers lists the key orders that sst knows.
//
// To add one, implement table.Comparer, as reverseComparer does, and add it to all. Name must return the order's
// name in MANIFESTs. The flag --comparator, its shell completion, its help and its errors then include the new
// order. The tests, table/cmd/sst/internal/command/testdata/script/comparator.txtar and the README of sst list
// the orders too.
package comparers

import (
	"bytes"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/database"
)

// all lists the known orders.
var all = []struct {
	flagValue string // the value of --comparator
	comparer  table.Comparer
	alias     string // another name of the order in MANIFESTs, or ""
}{
	{"bytewise", table.BytewiseComparer, ""},
	{"reverse", reverseComparer{}, "rocksdb.ReverseBytewiseComparator"},
	{"idb_cmp1", database.IDBComparer, ""},
}

// FlagValues returns the values of --comparator, without auto.
func FlagValues() (words []string) {
	for _, c := range all {
		words = append(words, c.flagValue)
	}
	return words
}

// Advice says how to specify the key order.
func Advice() string {
	return "use --comparator " + text.OneOf(FlagValues()...) + " (Chromium's IndexedDB)"
}

// ByFlagValue returns the order for a value of --comparator, or nil if the value is unknown.
func ByFlagValue(word string) table.Comparer {
	for _, c := range all {
		if c.flagValue == word {
			return c.comparer
		}
	}
	return nil
}

// ByName returns the order with this name in a MANIFEST. ok is false if it is unknown.
func ByName(name string) (order table.Comparer, ok bool) {
	order = ByFlagValue(FlagValueOf(name))
	return order, order != nil
}

// FlagValueOf returns the value of --comparator for an order's name in a MANIFEST, or "" if the name is unknown.
func FlagValueOf(name string) string {
	for _, c := range all {
		if c.comparer.Name() == name || c.alias != "" && c.alias == name {
			return c.flagValue
		}
	}
	return ""
}

// KeepsPrefixes reports whether an order keeps keys with a common prefix together.
func KeepsPrefixes(order table.Comparer) bool {
	return order == table.BytewiseComparer || order == reverseComparer{}
}

// reverseComparer is the reverse bytewise order.
type reverseComparer struct{}

func (reverseComparer) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (reverseComparer) Name() string                    { return "leveldb.ReverseBytewiseComparator" }
func (reverseComparer) Separator(_, _, _ []byte) []byte { return nil }
func (reverseComparer) Successor(_, _ []byte) []byte    { return nil }
