// Package leveldb has types with the names and fields of unexported types of goleveldb's engine, in a package of the
// same name. It is for tests.
package leveldb

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
)

// NewComparer wraps a program's comparer, as the engine does.
func NewComparer(user comparer.Comparer) comparer.Comparer { return &iComparer{user} }

// NewFork wraps a program's comparer. It returns the comparer of a modified engine, which also keeps goleveldb's
// comparer, but does not use it.
func NewFork(user comparer.Comparer) comparer.Comparer {
	return &forkComparer{comparer.DefaultComparer, &iComparer{user}}
}

// NewFilter wraps a program's filter, as the engine does.
func NewFilter(user lfilter.Filter) lfilter.Filter { return &iFilter{user} }

type iComparer struct{ ucmp comparer.Comparer }

type forkComparer struct {
	ucmp comparer.Comparer
	*iComparer
}

// Split splits an internal key. Like the engine, it panics if the key is too short.
func Split(key []byte) (user []byte, number uint64) {
	if len(key) < 8 {
		panic(fmt.Sprintf("%q is no internal key", key))
	}
	n := len(key) - 8
	return key[:n:n], binary.LittleEndian.Uint64(key[n:])
}

func (c *iComparer) Name() string { return c.ucmp.Name() }

func (c *iComparer) Compare(a, b []byte) int {
	ua, na := Split(a)
	ub, nb := Split(b)
	return cmp.Or(c.ucmp.Compare(ua, ub), cmp.Compare(nb, na))
}

func (c *iComparer) Separator(dst, a, b []byte) []byte {
	ua, _ := Split(a)
	ub, _ := Split(b)
	return c.shortened(c.ucmp.Separator(dst, ua, ub), ua)
}

func (c *iComparer) Successor(dst, b []byte) []byte {
	ub, _ := Split(b)
	return c.shortened(c.ucmp.Successor(dst, ub), ub)
}

func (c *iComparer) shortened(s, user []byte) []byte {
	if s == nil || len(s) >= len(user) || c.ucmp.Compare(user, s) >= 0 {
		return nil
	}
	return binary.LittleEndian.AppendUint64(s, 1<<64-255) // the largest trailer of a value
}

type iFilter struct{ lfilter.Filter }

func (f iFilter) Contains(filter, key []byte) bool {
	user, _ := Split(key)
	return f.Filter.Contains(filter, user)
}

func (f iFilter) NewGenerator() lfilter.FilterGenerator {
	return iFilterGenerator{f.Filter.NewGenerator()}
}

type iFilterGenerator struct{ lfilter.FilterGenerator }

func (g iFilterGenerator) Add(key []byte) {
	user, _ := Split(key)
	g.FilterGenerator.Add(user)
}
