package filter

import (
	"fmt"
	"reflect"
)

// A filterOf is a Policy of another package, whose generators are of type G.
type filterOf[G any] interface {
	Name() string
	NewGenerator() G
	Contains(filter, key []byte) bool
}

// A generatorOf is a Generator that writes to buffers of type B.
type generatorOf[B any] interface {
	Add(key []byte)
	Generate(b B)
}

// Adapt returns p as the filter interface of another package, such as goleveldb, whose methods have the same names.
// G is that package's generator interface, and B its buffer interface:
//
//	import lfilter "github.com/syndtr/goleveldb/leveldb/filter"
//
//	opt.Options{Filter: filter.Adapt[lfilter.FilterGenerator, lfilter.Buffer](filter.NewBloom(10))}
//
// If G's methods are not Add([]byte) and Generate(B), Adapt panics.
func Adapt[G any, B Buffer](p Policy) filterOf[G] {
	if _, ok := any(adaptedGenerator[B]{}).(G); !ok {
		panic(fmt.Sprintf("filter: Adapt: %v is not an interface of Add([]byte) and Generate(%v)",
			reflect.TypeFor[G](), reflect.TypeFor[B]()))
	}
	return adapted[G, B]{p}
}

type adapted[G any, B Buffer] struct{ Policy }

func (a adapted[G, B]) NewGenerator() G {
	return any(adaptedGenerator[B]{a.Policy.NewGenerator()}).(G)
}

type adaptedGenerator[B Buffer] struct{ Generator }

func (g adaptedGenerator[B]) Generate(b B) { g.Generator.Generate(b) }

// From returns the filter p of another package, such as goleveldb, as a [Policy]. The type arguments are inferred:
//
//	filter.From(lfilter.NewBloomFilter(10)) // from goleveldb's leveldb/filter
//
// If p cuts a suffix from each key itself, as the filters inside goleveldb's engine do, it needs whole keys: with
// an InternalComparer, set a FilterKey that returns the key, or nil for keys that p cannot take.
//
// If B is not an interface with the methods of [Buffer], From panics.
func From[G generatorOf[B], B any](p filterOf[G]) Policy {
	if _, ok := any(clearedBuffer{}).(B); !ok {
		panic(fmt.Sprintf("filter: From: %v is not an interface of the methods of Buffer", reflect.TypeFor[B]()))
	}
	return from[G, B]{p}
}

type from[G generatorOf[B], B any] struct{ filterOf[G] }

func (f from[G, B]) NewGenerator() Generator { return fromGenerator[B]{f.filterOf.NewGenerator()} }

type fromGenerator[B any] struct{ generatorOf[B] }

func (g fromGenerator[B]) Generate(b Buffer) { g.generatorOf.Generate(any(clearedBuffer{b}).(B)) }

// A clearedBuffer is a Buffer whose Alloc returns zeros, since goleveldb's generator relies on them.
type clearedBuffer struct{ Buffer }

// Alloc appends n zeros and returns them.
func (b clearedBuffer) Alloc(n int) []byte {
	p := b.Buffer.Alloc(n)
	clear(p)
	return p
}

// Rename returns a Policy like p with another name and no aliases. Tables then list the filter for one engine only:
//
//	filter.Rename(filter.NewBloom(10), "leveldb.BuiltinBloomFilter2") // C++ LevelDB
func Rename(p Policy, name string) Policy { return renamed{checked{p}, name} }

type renamed struct {
	checked
	name string
}

func (r renamed) Name() string { return r.name }

// checked is a Policy whose only optional method is Check.
type checked struct{ Policy }

// Check calls the Policy's Check method, if it has one.
func (c checked) Check(filter []byte) error {
	if p, ok := c.Policy.(checker); ok {
		return p.Check(filter)
	}
	return nil
}
