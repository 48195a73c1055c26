package goleveldb

import (
	"bytes"
	"path"
	"reflect"
	"slices"

	"github.com/syndtr/goleveldb/leveldb/comparer"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// goleveldb's engine wraps the comparer and the filter of a program in types that it does not
// export. They are recognized by what they do, since a program can have types of the same names
// that do something else, and a fork of the engine other names for its types.

// An answer is what a test of a comparer says.
type answer int

const (
	no answer = iota
	yes
	panicked
)

// comparesAs tests whether c orders pairs of keys as order does.
func comparesAs(c comparer.Comparer, order table.Comparer, pairs [][2][]byte) (same answer) {
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

// internalKeyOf returns the internal key of the version with that sequence number.
func internalKeyOf(user string, sequence uint64) []byte {
	return internalkey.Key{UserKey: []byte(user), Sequence: sequence, Kind: internalkey.Set}.Append(nil)
}

var (
	bytewiseInternal = table.InternalComparer(table.BytewiseComparer)

	// versions are two versions of one user key, and of another one. A comparer that is bytewise,
	// or bytewise backward, has one of the pairs in the other order.
	versions = [][2][]byte{
		{internalKeyOf("", 1), internalKeyOf("", 2)},
		{internalKeyOf("", 1), internalKeyOf("", 256)},
		{internalKeyOf("", 7), internalKeyOf("", 7)},
	}

	// short are pairs with keys that are too short. A comparer of a program can have such keys between
	// versions of others.
	short = [][2][]byte{
		{[]byte("b"), []byte("a")},
		{[]byte("b"), internalKeyOf("a", 1)},
		{internalKeyOf("", 1), []byte("a")},
		{nil, []byte("a")},
	}

	// users are versions of different user keys. Those of the first pair have a shorter separator,
	// and a shorter successor.
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

// isInternal reports whether c is the comparer of the internal keys of an engine. Such a comparer
// panics for keys that are too short. One that panics for all keys is judged by its name.
func isInternal(c comparer.Comparer) bool {
	switch comparesAs(c, bytewiseInternal, versions) {
	case no:
		return false
	case panicked:
		t := reflect.TypeOf(c)
		return t.Kind() == reflect.Pointer && t.Elem().Name() == "iComparer" && userComparer(c) != nil
	}
	return comparesAs(c, bytewiseInternal, short) != no
}

// isBytewiseInternal reports whether the user keys are in the bytewise order: c has the type of
// goleveldb's engine, or of a copy of it, with goleveldb's comparer in it. A fork with another type
// can have another order that few keys show; its own comparer then serves, which is slower.
func isBytewiseInternal(c comparer.Comparer) (is bool) {
	t := reflect.TypeOf(c)
	if t.Kind() != reflect.Pointer {
		return false
	}
	if t = t.Elem(); t.Name() != "iComparer" || path.Base(t.PkgPath()) != "leveldb" {
		return false
	}
	bytewise := reflect.TypeOf(comparer.DefaultComparer)
	if userComparer(c) != bytewise || comparesAs(c, bytewiseInternal, users) != yes {
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

// userComparer returns the type of the only comparer in the struct that c points to, or nil if c
// does not point to a struct with one.
func userComparer(c comparer.Comparer) (user reflect.Type) {
	v := reflect.ValueOf(c)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
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

// userFilter returns the filter of user keys that an engine has wrapped, and true, or f itself and
// false. What the engine wraps with is a struct with the filter as its only field, or a pointer to
// one. It gives the filter all of a key but the last 8 bytes.
func userFilter(f lfilter.Filter) (user lfilter.Filter, internal bool) {
	v := reflect.ValueOf(f)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.NumField() != 1 || !v.Field(0).CanInterface() {
		return f, false
	}
	user, ok := v.Field(0).Interface().(lfilter.Filter)
	if !ok || v.Type().Field(0).Type != reflect.TypeFor[lfilter.Filter]() || !cutsKeys(f, user) {
		return f, false
	}
	return user, true
}

// cutsKeys reports whether f builds of internal keys the filter that user builds of their user
// keys.
func cutsKeys(f, user lfilter.Filter) (cuts bool) {
	defer func() { _ = recover() }()
	var whole, cut [][]byte
	for i, key := range filterKeys {
		whole, cut = append(whole, internalKeyOf(key, uint64(i))), append(cut, []byte(key))
	}
	return bytes.Equal(filterOf(f, whole), filterOf(user, cut))
}

// ignoresTrailers reports whether the filters of f say the same of all versions of a user key.
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

// filterKeys are user keys to build filters of.
var filterKeys = []string{"", "a", "user key", "\xff\xfe\x00"}

// filterOf returns the filter that f builds of keys.
func filterOf(f lfilter.Filter, keys [][]byte) []byte {
	g := f.NewGenerator()
	for _, key := range keys {
		g.Add(key)
	}
	var b util.Buffer
	g.Generate(&b)
	return b.Bytes()
}

// An extendingFilter is for user keys what its filter, which ignores trailers, is for internal
// keys.
type extendingFilter struct{ lfilter.Filter }

// extended returns an internal key of a user key.
func extended(user []byte) []byte {
	return slices.Concat(user, make([]byte, trailerLen))
}

func (f extendingFilter) Contains(filter, user []byte) bool {
	return f.Filter.Contains(filter, extended(user))
}

func (f extendingFilter) NewGenerator() lfilter.FilterGenerator {
	return extendingGenerator{f.Filter.NewGenerator()}
}

type extendingGenerator struct{ lfilter.FilterGenerator }

func (g extendingGenerator) Add(user []byte) { g.FilterGenerator.Add(extended(user)) }
