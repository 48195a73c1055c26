package filter

import (
	"fmt"
	"reflect"
)

// From turns the filter of another package, such as goleveldb's, into a [Policy]. It is the
// reverse of [Adapt]. G is the generator interface of the other package, and B is its buffer
// interface. Both can be inferred:
//
//	filter.From(lfilter.NewBloomFilter(10)) // of goleveldb's leveldb/filter
//
// The memory that the generator allocates in a buffer is cleared for it: goleveldb's own
// relies on that, and its buffers do not do it.
//
// A filter that leaves a part of each key out by itself, as those of goleveldb's engine do, wants
// whole keys: with an InternalComparer, set a FilterKey that returns the key, and nil for keys that
// the filter cannot take.
//
// From panics if B has other methods than those of [Buffer].
func From[G generatorOf[B], B any](p filterOf[G]) Policy {
	if _, ok := any(clearedBuffer{}).(B); !ok {
		panic(fmt.Sprintf("filter: From: %v is not an interface of the methods of Buffer", reflect.TypeFor[B]()))
	}
	return from[G, B]{p}
}

// generatorOf is a Generator that writes to buffers of type B.
type generatorOf[B any] interface {
	Add(key []byte)
	Generate(b B)
}

// filterOf is a Policy whose generators are of type G.
type filterOf[G any] interface {
	Name() string
	NewGenerator() G
	Contains(filter, key []byte) bool
}

type from[G generatorOf[B], B any] struct{ filter filterOf[G] }

func (f from[G, B]) Name() string { return f.filter.Name() }

func (f from[G, B]) Contains(filter, key []byte) bool { return f.filter.Contains(filter, key) }

func (f from[G, B]) NewGenerator() Generator {
	return fromGenerator[G, B]{f.filter.NewGenerator()}
}

type fromGenerator[G generatorOf[B], B any] struct{ generator G }

func (g fromGenerator[G, B]) Add(key []byte) { g.generator.Add(key) }

func (g fromGenerator[G, B]) Generate(b Buffer) { g.generator.Generate(any(clearedBuffer{b}).(B)) }

// A clearedBuffer is a Buffer whose Alloc returns zeros.
type clearedBuffer struct{ Buffer }

// Alloc appends n zeros and returns them.
func (b clearedBuffer) Alloc(n int) []byte {
	p := b.Buffer.Alloc(n)
	clear(p)
	return p
}
