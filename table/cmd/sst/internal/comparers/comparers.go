// Package comparers has the orders of keys that the tool knows. One more is a file of
// its own, and its name in the list here.
package comparers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table"
)

// namedComparer is an order, and what it is called.
type namedComparer struct {
	flagValue string // on the command line
	comparer  table.Comparer
	aliases   []string // further names that MANIFESTs have for it
}

var all = []namedComparer{bytewise, reverse, idbCmp1}

var bytewise = namedComparer{flagValue: "bytewise", comparer: table.BytewiseComparer}

// FlagValues returns what the orders are called on the command line.
func FlagValues() []string {
	words := make([]string, len(all))
	for i, c := range all {
		words[i] = c.flagValue
	}
	return words
}

// ByFlagValue returns the order that a word of the command line stands for.
func ByFlagValue(word string) (table.Comparer, error) {
	i := slices.IndexFunc(all, func(c namedComparer) bool { return c.flagValue == word })
	if i < 0 {
		return nil, fmt.Errorf("--comparator is %q, want one of %s", word, strings.Join(FlagValues(), ", "))
	}
	return all[i].comparer, nil
}

// ByName returns the order that a MANIFEST calls so, and whether it is known.
func ByName(name string) (order table.Comparer, ok bool) {
	i := slices.IndexFunc(all, func(c namedComparer) bool {
		return c.comparer.Name() == name || slices.Contains(c.aliases, name)
	})
	if i < 0 {
		return nil, false
	}
	return all[i].comparer, true
}
