package goleveldb_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
)

// iComparer and iFilter have the names and the form of those of goleveldb's engine, which are not
// exported. Like them, they panic for what is no internal key.
type iComparer struct{ ucmp comparer.Comparer }

func split(key []byte) (user []byte, number uint64) {
	if len(key) < 8 {
		panic(fmt.Sprintf("%q is no internal key", key))
	}
	n := len(key) - 8
	return key[:n:n], binary.LittleEndian.Uint64(key[n:])
}

func (c *iComparer) Name() string { return c.ucmp.Name() }

func (c *iComparer) Compare(a, b []byte) int {
	ua, na := split(a)
	ub, nb := split(b)
	if order := c.ucmp.Compare(ua, ub); order != 0 {
		return order
	}
	return cmp.Compare(nb, na)
}

func (c *iComparer) Separator(dst, a, b []byte) []byte {
	ua, _ := split(a)
	ub, _ := split(b)
	return c.shortened(c.ucmp.Separator(dst, ua, ub), ua)
}

func (c *iComparer) Successor(dst, b []byte) []byte {
	ub, _ := split(b)
	return c.shortened(c.ucmp.Successor(dst, ub), ub)
}

func (c *iComparer) shortened(s, user []byte) []byte {
	if s == nil || len(s) >= len(user) || c.ucmp.Compare(user, s) >= 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint64(s, 1<<64-255) // the highest number of a value
}

type iFilter struct{ lfilter.Filter }

func (f iFilter) Contains(filter, key []byte) bool {
	user, _ := split(key)
	return f.Filter.Contains(filter, user)
}

func (f iFilter) NewGenerator() lfilter.FilterGenerator {
	return iFilterGenerator{f.Filter.NewGenerator()}
}

// A fork is the comparer of an engine that has changed goleveldb's: with direction −1 it has the
// user keys in the other order.
type fork struct {
	iComparer
	user      comparer.Comparer
	direction int
}

func newFork(user comparer.Comparer, direction int) *fork {
	return &fork{iComparer: iComparer{user}, user: user, direction: direction}
}

func (f *fork) Compare(a, b []byte) int {
	ua, na := split(a)
	ub, nb := split(b)
	return cmp.Or(f.direction*f.user.Compare(ua, ub), cmp.Compare(nb, na))
}

func (f *fork) Separator(dst, a, b []byte) []byte { return nil }
func (f *fork) Successor(dst, b []byte) []byte    { return nil }

// forkFilter is the filter of such an engine.
type forkFilter struct{ iFilter }

// versioned is the comparer of a program whose keys are names, or names with 8 bytes of a number, the
// highest first. It compares versions as the engine does, and has names between them.
type versioned struct{}

func (versioned) parts(key []byte) (name []byte, number uint64) {
	if len(key) < 8 {
		return key, 0
	}
	return split(key)
}

func (versioned) Name() string { return "versioned" }

func (v versioned) Compare(a, b []byte) int {
	nameA, numberA := v.parts(a)
	nameB, numberB := v.parts(b)
	return cmp.Or(bytes.Compare(nameA, nameB), cmp.Compare(numberB, numberA))
}

func (versioned) Separator(dst, a, b []byte) []byte { return nil }
func (versioned) Successor(dst, b []byte) []byte    { return nil }

// ownTypes returns a comparer and a filter whose types have the names of the engine's, but which
// are for keys of any bytes.
func ownTypes() (comparer.Comparer, lfilter.Filter) {
	type bloom struct{ lfilter.Filter }
	type iComparer struct{ comparer.Comparer }
	type iFilter struct{ bloom }
	return &iComparer{comparer.DefaultComparer}, &iFilter{bloom{lfilter.NewBloomFilter(10)}}
}

type iFilterGenerator struct{ lfilter.FilterGenerator }

func (g iFilterGenerator) Add(key []byte) {
	user, _ := split(key)
	g.FilterGenerator.Add(user)
}
