package filter

import (
	"fmt"
	"reflect"
)

// Adapt turns a Policy into another package's filter interface that has the
// same method set, without importing that package. G is the other package's
// generator interface, B its buffer interface. For goleveldb:
//
//	import lfilter "github.com/syndtr/goleveldb/leveldb/filter"
//
//	opt.Options{Filter: filter.Adapt[lfilter.FilterGenerator, lfilter.Buffer](filter.NewBloom(10))}
//
// It panics at once, naming both types, if G has other methods than
// Add([]byte) and Generate(B).
func Adapt[G any, B Buffer](p Policy) Adapted[G, B] {
	if _, ok := any(adaptedGenerator[B]{}).(G); !ok {
		panic(fmt.Sprintf("filter: Adapt: %v is not an interface of Add([]byte) and Generate(%v)",
			reflect.TypeFor[G](), reflect.TypeFor[B]()))
	}
	return Adapted[G, B]{policy: p}
}

// Adapted is a Policy as another package declares it: its generators are of
// type G and write to buffers of type B. It is made by [Adapt] and safe for
// concurrent use.
type Adapted[G any, B Buffer] struct {
	policy Policy
}

// Name returns the Policy's name.
func (a Adapted[G, B]) Name() string { return a.policy.Name() }

// Contains asks the Policy.
func (a Adapted[G, B]) Contains(filter, key []byte) bool {
	return a.policy.Contains(filter, key)
}

// NewGenerator returns the Policy's generator as a G.
func (a Adapted[G, B]) NewGenerator() G {
	return any(adaptedGenerator[B]{a.policy.NewGenerator()}).(G)
}

type adaptedGenerator[B Buffer] struct {
	gen Generator
}

func (g adaptedGenerator[B]) Add(key []byte) { g.gen.Add(key) }
func (g adaptedGenerator[B]) Generate(b B)   { g.gen.Generate(b) }
