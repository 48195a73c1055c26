// Package comparers has the orders of keys that the tool knows. One more is a file of
// its own, and its name in the list here.
package comparers

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/table"
)

// comparator is an order, and what it is called.
type comparator struct {
	word    string // on the command line
	order   table.Comparer
	aliases []string // further names that MANIFESTs have for it
}

var known = []comparator{bytewise, reverse, idbCmp1}

var bytewise = comparator{word: "bytewise", order: table.BytewiseComparer}

// Words returns what the orders are called on the command line.
func Words() []string {
	words := make([]string, len(known))
	for i, c := range known {
		words[i] = c.word
	}
	return words
}

// ByWord returns the order that a word of the command line stands for.
func ByWord(word string) (table.Comparer, error) {
	i := slices.IndexFunc(known, func(c comparator) bool { return c.word == word })
	if i < 0 {
		return nil, fmt.Errorf("--comparator is %q, want one of %s", word, strings.Join(Words(), ", "))
	}
	return known[i].order, nil
}

// ByName returns the order that a MANIFEST calls so, and whether it is known.
func ByName(name string) (order table.Comparer, ok bool) {
	i := slices.IndexFunc(known, func(c comparator) bool {
		return c.order.Name() == name || slices.Contains(c.aliases, name)
	})
	if i < 0 {
		return nil, false
	}
	return known[i].order, true
}
