package goleveldb_test

import (
	"bytes"
	"cmp"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"

	"github.com/sievetable/sievetable/table/goleveldb/internal/leveldb"
)

// A fork is the comparer of a modified engine: with direction −1, user keys are in the reverse order.
type fork struct {
	user      comparer.Comparer
	direction int
}

func (f *fork) Name() string { return f.user.Name() }

func (f *fork) Compare(a, b []byte) int {
	ua, na := leveldb.Split(a)
	ub, nb := leveldb.Split(b)
	return cmp.Or(f.direction*f.user.Compare(ua, ub), cmp.Compare(nb, na))
}

func (f *fork) Separator(dst, a, b []byte) []byte { return nil }
func (f *fork) Successor(dst, b []byte) []byte    { return nil }

// forkFilter is the filter of a modified engine.
type forkFilter struct{ wrapped }

type wrapped struct{ lfilter.Filter }

// versioned is the comparer of a program whose keys are names, or names with a number of 8 bytes, the highest first.
// It orders versions like the engine, with names between them.
type versioned struct{}

func (versioned) parts(key []byte) (name []byte, number uint64) {
	if len(key) < 8 {
		return key, 0
	}
	return leveldb.Split(key)
}

func (versioned) Name() string { return "versioned" }

func (v versioned) Compare(a, b []byte) int {
	nameA, numberA := v.parts(a)
	nameB, numberB := v.parts(b)
	return cmp.Or(bytes.Compare(nameA, nameB), cmp.Compare(numberB, numberA))
}

func (versioned) Separator(dst, a, b []byte) []byte { return nil }
func (versioned) Successor(dst, b []byte) []byte    { return nil }

// system is the prefix of system keys in an engine with a systemLast.
var system = []byte("5")

// A systemLast is the comparer of an engine that orders system keys last.
type systemLast struct{ user comparer.Comparer }

func (c *systemLast) Name() string { return c.user.Name() }

func (c *systemLast) Compare(a, b []byte) int {
	ua, na := leveldb.Split(a)
	ub, nb := leveldb.Split(b)
	switch lastA, lastB := bytes.HasPrefix(ua, system), bytes.HasPrefix(ub, system); {
	case lastA && !lastB:
		return 1
	case lastB && !lastA:
		return -1
	}
	return cmp.Or(c.user.Compare(ua, ub), cmp.Compare(nb, na))
}

func (c *systemLast) Separator(dst, a, b []byte) []byte { return nil }
func (c *systemLast) Successor(dst, b []byte) []byte    { return nil }

// ownTypes returns a comparer and a filter that have the engine's type names, but accept any bytes as keys.
func ownTypes() (comparer.Comparer, lfilter.Filter) {
	type bloom struct{ lfilter.Filter }
	type iComparer struct{ comparer.Comparer }
	type iFilter struct{ bloom }
	return &iComparer{comparer.DefaultComparer}, &iFilter{bloom{lfilter.NewBloomFilter(10)}}
}
