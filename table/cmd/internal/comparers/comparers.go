// Package comparers lists the orders of keys that sst knows.
//
// To add one, write a file that implements table.Comparer and declares a namedComparer, as
// reverse.go does, and add the namedComparer to all. The name that MANIFESTs use for the
// order is the Name of the Comparer. The flag --comparator, its shell completion, its help
// and its errors then include the new order. The tests, ../command/testdata/script/comparator.txtar and
// the README of sst list the orders too.
package comparers

import (
	"bytes"
	"slices"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/database"
)

// A namedComparer is an order of keys with its names.
type namedComparer struct {
	flagValue string // the value of --comparator
	comparer  table.Comparer
	aliases   []string // other names of the order in MANIFESTs
}

// all lists the known orders.
var all = []namedComparer{bytewise, reverse, idbCmp1}

var (
	bytewise = namedComparer{flagValue: "bytewise", comparer: table.BytewiseComparer}
	idbCmp1  = namedComparer{flagValue: "idb_cmp1", comparer: database.IDBComparer}
)

// FlagValues returns the values of --comparator, without auto.
func FlagValues() []string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.flagValue
	}
	return words
}

// Advice says how to give the order of keys.
func Advice() string { return "use --comparator with " + text.OneOf(FlagValues()...) }

// ByFlagValue returns the order for a value of --comparator.
func ByFlagValue(word string) (table.Comparer, error) {
	i := slices.IndexFunc(all, func(c namedComparer) bool { return c.flagValue == word })
	if i < 0 {
		return nil, cli.UsageErrorf("--comparator is %s, want %s", wire.Quote([]byte(word)), text.OneOf(append([]string{"auto"}, FlagValues()...)...))
	}
	return all[i].comparer, nil
}

// ByName returns the order with this name in a MANIFEST. ok is false if it is unknown.
func ByName(name string) (order table.Comparer, ok bool) {
	i := slices.IndexFunc(all, func(c namedComparer) bool {
		return c.comparer.Name() == name || slices.Contains(c.aliases, name)
	})
	if i < 0 {
		return nil, false
	}
	return all[i].comparer, true
}

// KeepsPrefixes reports whether keys with one prefix come one after the other in an order.
func KeepsPrefixes(order table.Comparer) bool {
	return order == table.BytewiseComparer || order == reverse.comparer
}

// reverse is the reversed bytewise order.
var reverse = namedComparer{flagValue: "reverse", comparer: reverseComparer{}, aliases: []string{"rocksdb.ReverseBytewiseComparator"}}

type reverseComparer struct{}

func (reverseComparer) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (reverseComparer) Name() string                    { return "leveldb.ReverseBytewiseComparator" }
func (reverseComparer) Separator(_, _, _ []byte) []byte { return nil }
func (reverseComparer) Successor(_, _ []byte) []byte    { return nil }
