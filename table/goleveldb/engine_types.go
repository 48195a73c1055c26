package goleveldb

import (
	"bytes"
	"path"
	"reflect"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// goleveldb's engine wraps a program's comparer and filter in unexported types. They are recognized by their
// behavior, since a program can have types of the same names with another behavior, and a fork of the engine can
// have other names.

// A verdict is the result of testing a comparer.
type verdict int

const (
	no verdict = iota
	yes
	panicked
)

// comparesAs tests whether c orders pairs of keys as order does.
func comparesAs(c comparer.Comparer, order table.Comparer, pairs [][2][]byte) (same verdict) {
	same = panicked
	defer func() { _ = recover() }()
	for _, p := range pairs {
		got, want := c.Compare(p[0], p[1]), order.Compare(p[0], p[1])
		if got < 0 != (want < 0) || got > 0 != (want > 0) {
			return no
		}
	}
	return yes
}

// internalKeyOf returns an internal key with that user key and sequence number.
func internalKeyOf(user string, sequence uint64) []byte {
	return internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Set}.Append(nil)
}

var (
	bytewiseInternal = table.InternalComparer(table.BytewiseComparer)

	// versions are pairs of versions of one user key. A comparer that is bytewise, or bytewise backward, orders one
	// of the pairs differently.
	versions = [][2][]byte{
		{internalKeyOf("", 1), internalKeyOf("", 2)},
		{internalKeyOf("", 1), internalKeyOf("", 256)},
		{internalKeyOf("", 7), internalKeyOf("", 7)},
	}

	// short are pairs in which a key is too short. A program's own comparer may order such keys between versions of
	// others.
	short = [][2][]byte{
		{[]byte("b"), []byte("a")},
		{[]byte("b"), internalKeyOf("a", 1)},
		{internalKeyOf("", 1), []byte("a")},
		{nil, []byte("a")},
	}

	// users are pairs of versions of different user keys. In the first pair, the separator and the successor are
	// shorter.
	users = [][2][]byte{
		{internalKeyOf("abcd", 1), internalKeyOf("acde", 2)},
		{internalKeyOf("a", 1), internalKeyOf("b", 2)},
		{internalKeyOf("b", 1), internalKeyOf("a", 2)},
		{internalKeyOf("a", 1), internalKeyOf("a\x00", 2)},
		{internalKeyOf("", 1), internalKeyOf("\xff", 1)},
		{internalKeyOf("A", 2), internalKeyOf("a", 1)},
		{internalKeyOf("10", 1), internalKeyOf("9", 1)},
	}
)

// isInternal reports whether c is an engine's comparer of internal keys. Such a comparer panics for keys that are
// too short. If c panics for all keys, the name of its type decides.
func isInternal(c comparer.Comparer) bool {
	switch comparesAs(c, bytewiseInternal, versions) {
	case no:
		return false
	case panicked:
		return userComparer(c) != nil
	}
	return comparesAs(c, bytewiseInternal, short) != no
}

// isBytewiseInternal reports whether c orders user keys bytewise: it has the type of goleveldb's engine, or of a
// copy, and contains goleveldb's comparer. A fork with another type may have another order that few keys reveal, so
// its own comparer is used, which is slower.
func isBytewiseInternal(c comparer.Comparer) (is bool) {
	if userComparer(c) != reflect.TypeOf(comparer.DefaultComparer) ||
		path.Base(reflect.TypeOf(c).Elem().PkgPath()) != "leveldb" || comparesAs(c, bytewiseInternal, users) != yes {
		return false
	}
	defer func() { _ = recover() }()
	for _, p := range users {
		if !bytes.Equal(c.Separator(nil, p[0], p[1]), bytewiseInternal.Separator(nil, p[0], p[1])) ||
			!bytes.Equal(c.Successor(nil, p[1]), bytewiseInternal.Successor(nil, p[1])) {
			return false
		}
	}
	return true
}

// userComparer returns the type of the only comparer in the struct that c points to, or nil if c does not point to a
// struct with the name of the engine's type and one comparer.
func userComparer(c comparer.Comparer) (user reflect.Type) {
	v := reflect.ValueOf(c)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct ||
		v.Elem().Type().Name() != "iComparer" {
		return nil
	}
	for i := range v.Elem().NumField() {
		f := v.Elem().Field(i)
		if f.Type() != reflect.TypeFor[comparer.Comparer]() || f.IsNil() {
			continue
		}
		if user != nil {
			return nil
		}
		user = f.Elem().Type()
	}
	return user
}

// userFilter returns the filter for user keys that an engine has wrapped, and true, or f itself and false. The
// engine's wrapper is a struct with the filter as its only field, or a pointer to one. It passes keys to the filter
// without their last 8 bytes.
func userFilter(f lfilter.Filter) (user lfilter.Filter, internal bool) {
	v := reflect.ValueOf(f)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.NumField() != 1 || !v.Field(0).CanInterface() {
		return f, false
	}
	user, ok := v.Field(0).Interface().(lfilter.Filter)
	if !ok || v.Type().Field(0).Type != reflect.TypeFor[lfilter.Filter]() || !stripsTrailers(f, user) {
		return f, false
	}
	return user, true
}

// stripsTrailers reports whether f builds the same filter from internal keys as user builds from their user keys.
func stripsTrailers(f, user lfilter.Filter) (strips bool) {
	defer func() { _ = recover() }()
	var whole, cut [][]byte
	for i, key := range filterKeys {
		whole, cut = append(whole, internalKeyOf(key, uint64(i))), append(cut, []byte(key))
	}
	return bytes.Equal(filterOf(f, whole), filterOf(user, cut))
}

// ignoresTrailers reports whether the filters of f treat all versions of a user key alike.
func ignoresTrailers(f lfilter.Filter) (ignores bool) {
	defer func() { _ = recover() }()
	var older, newer [][]byte
	for i, key := range filterKeys {
		older = append(older, internalKeyOf(key, uint64(i)))
		newer = append(newer, internalKeyOf(key, 1<<40+uint64(i)))
	}
	built := filterOf(f, older)
	for _, key := range newer {
		if !f.Contains(built, key) {
			return false
		}
	}
	return bytes.Equal(built, filterOf(f, newer))
}

// filterKeys are user keys for trying filters.
var filterKeys = []string{"", "a", "user key", "\xff\xfe\x00"}

// filterOf returns the filter that f builds from keys.
func filterOf(f lfilter.Filter, keys [][]byte) []byte {
	g := f.NewGenerator()
	for _, key := range keys {
		g.Add(key)
	}
	var b util.Buffer
	g.Generate(&b)
	return b.Bytes()
}

// An extendingFilter makes a filter for internal keys that ignores trailers usable for user keys.
type extendingFilter struct{ lfilter.Filter }

// extended returns an internal key for a user key.
func extended(user []byte) []byte {
	return slices.Concat(user, make([]byte, format.InternalTrailerLen))
}

func (f extendingFilter) Contains(filter, user []byte) bool {
	return f.Filter.Contains(filter, extended(user))
}

func (f extendingFilter) NewGenerator() lfilter.FilterGenerator {
	return extendingGenerator{f.Filter.NewGenerator()}
}

type extendingGenerator struct{ lfilter.FilterGenerator }

func (g extendingGenerator) Add(user []byte) { g.FilterGenerator.Add(extended(user)) }
