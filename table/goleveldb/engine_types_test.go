package goleveldb_test

import (
	"bytes"
	"cmp"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// ordering returns a comparer with an order. It shortens no keys.
func ordering(compare func(a, b []byte) int) comparer.Comparer {
	return tabletest.Order{Comparer: tabletest.Reversed("test.Ordering"), Func: compare}
}

// fork returns the comparer of a modified engine, for an order of user keys.
func fork(compare func(a, b []byte) int) comparer.Comparer {
	return ordering(func(a, b []byte) int {
		ua, na := leveldb.Split(a)
		ub, nb := leveldb.Split(b)
		return cmp.Or(compare(ua, ub), cmp.Compare(nb, na))
	})
}

// forkFilter is the filter of a modified engine.
type forkFilter struct{ wrapped }

type wrapped struct{ lfilter.Filter }

// versioned is the order of a program whose keys are names, or names with a number of 8 bytes, the highest first. It
// orders versions like the engine, with names between them.
func versioned(a, b []byte) int {
	parts := func(key []byte) (name []byte, number uint64) {
		if len(key) < 8 {
			return key, 0
		}
		return leveldb.Split(key)
	}
	nameA, numberA := parts(a)
	nameB, numberB := parts(b)
	return cmp.Or(bytes.Compare(nameA, nameB), cmp.Compare(numberB, numberA))
}

// systemLast orders user keys: those of the system, which start with 5, come last.
func systemLast(a, b []byte) int {
	switch lastA, lastB := bytes.HasPrefix(a, []byte("5")), bytes.HasPrefix(b, []byte("5")); {
	case lastA && !lastB:
		return 1
	case lastB && !lastA:
		return -1
	}
	return bytes.Compare(a, b)
}

// A shortSystemLast orders keys by systemLast. It shortens them like goleveldb's comparer, unless that breaks the order.
type shortSystemLast struct{ comparer.Comparer }

func (c shortSystemLast) Separator(dst, a, b []byte) []byte {
	s := comparer.DefaultComparer.Separator(dst, a, b)
	if s != nil && (systemLast(a, s) > 0 || systemLast(s, b) >= 0) {
		return nil
	}
	return s
}

func (c shortSystemLast) Successor(dst, b []byte) []byte {
	s := comparer.DefaultComparer.Successor(dst, b)
	if s != nil && systemLast(b, s) > 0 {
		return nil
	}
	return s
}

// ownTypes returns a comparer and a filter that have the engine's type names, but accept any bytes as keys.
func ownTypes() (comparer.Comparer, lfilter.Filter) {
	type bloom struct{ lfilter.Filter }
	type iComparer struct{ comparer.Comparer }
	type iFilter struct{ bloom }
	return &iComparer{comparer.DefaultComparer}, &iFilter{bloom{lfilter.NewBloomFilter(10)}}
}
