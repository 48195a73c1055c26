package filter

import (
	"fmt"
	"reflect"
)

// Adapt turns a Policy into the filter interface of another package, such as
// goleveldb, whose methods have the same names. This package does not import the
// other one. G is the generator interface of the other package, and B is its buffer
// interface:
//
//	import lfilter "github.com/syndtr/goleveldb/leveldb/filter"
//
//	opt.Options{Filter: filter.Adapt[lfilter.FilterGenerator, lfilter.Buffer](filter.NewBloom(10))}
//
// Adapt panics if G has other methods than Add([]byte) and Generate(B).
func Adapt[G any, B Buffer](p Policy) Adapted[G, B] {
	if _, ok := any(adaptedGenerator[B]{}).(G); !ok {
		panic(fmt.Sprintf("filter: Adapt: %v is not an interface of Add([]byte) and Generate(%v)",
			reflect.TypeFor[G](), reflect.TypeFor[B]()))
	}
	return Adapted[G, B]{policy: p}
}

// Adapted is a [Policy] in the form of another package's filter interface: its
// generators are of type G and write to buffers of type B. It comes from [Adapt]; the
// zero value is not usable. It is safe for concurrent use.
type Adapted[G any, B Buffer] struct {
	policy Policy
}

// Name returns the name of the Policy.
func (a Adapted[G, B]) Name() string { return a.policy.Name() }

// Contains reports whether key may be in filter, as the Policy does.
func (a Adapted[G, B]) Contains(filter, key []byte) bool {
	return a.policy.Contains(filter, key)
}

// NewGenerator returns an empty generator of the Policy as a G.
func (a Adapted[G, B]) NewGenerator() G {
	return any(adaptedGenerator[B]{a.policy.NewGenerator()}).(G)
}

type adaptedGenerator[B Buffer] struct {
	gen Generator
}

func (g adaptedGenerator[B]) Add(key []byte) { g.gen.Add(key) }
func (g adaptedGenerator[B]) Generate(b B)   { g.gen.Generate(b) }
