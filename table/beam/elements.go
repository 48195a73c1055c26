package setio

import (
	"fmt"
	"reflect"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/graph/window"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/typex"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"
)

func init() {
	register.Function1x2(keyOfBytes)
	register.Function1x2(keyOfString)
	register.Function2x2(pairOfStrings)
	register.Function2x2(pairOfStringBytes)
	register.Function2x2(pairOfBytesString)
}

// These functions convert elements to pairs of bytes.
func keyOfBytes(key []byte) ([]byte, []byte)                  { return key, nil }
func keyOfString(key string) ([]byte, []byte)                 { return []byte(key), nil }
func pairOfStrings(key, value string) ([]byte, []byte)        { return []byte(key), []byte(value) }
func pairOfStringBytes(key string, v []byte) ([]byte, []byte) { return []byte(key), v }
func pairOfBytesString(key []byte, v string) ([]byte, []byte) { return key, []byte(v) }

var (
	bytesType  = reflect.TypeFor[[]byte]()
	stringType = reflect.TypeFor[string]()
)

// conversions contains the functions that convert elements to pairs of bytes, by the types of key and value. For keys
// alone, the value's type is nil. A nil function means that no conversion is needed.
var conversions = map[[2]reflect.Type]any{
	{bytesType, nil}:         keyOfBytes,
	{stringType, nil}:        keyOfString,
	{stringType, stringType}: pairOfStrings,
	{stringType, bytesType}:  pairOfStringBytes,
	{bytesType, stringType}:  pairOfBytesString,
	{bytesType, bytesType}:   nil,
}

// checkElements checks that the Scope and the collection belong to a pipeline, since Beam would panic, and that its
// elements are pairs, or else keys. expected describes its type for errors.
func checkElements(s beam.Scope, what string, col beam.PCollection, pairs bool, expected string) error {
	if !s.IsValid() || !col.IsValid() {
		return fmt.Errorf("setio: the Scope or the PCollection of %s is the zero value: create both from a pipeline", what)
	}
	t := typesOf(col)
	if _, found := conversions[t]; !found || pairs != (t[1] != nil) {
		return wrongType(what, col, expected)
	}
	return nil
}

// wrongType returns the error for a collection of the wrong type.
func wrongType(what string, col beam.PCollection, expected string) error {
	return fmt.Errorf("setio: the PCollection of %s has type %v instead of %s", what, col.Type(), expected)
}

// typesOf returns the types of key and value. For a collection of keys, the value's type is nil.
func typesOf(col beam.PCollection) [2]reflect.Type {
	t := col.Type()
	if typex.IsKV(t) {
		return [2]reflect.Type{t.Components()[0].Type(), t.Components()[1].Type()}
	}
	return [2]reflect.Type{t.Type(), nil}
}

// asPairs returns the elements as pairs of bytes, in the global window: the set contains them all, and steps emit
// their output when a bundle ends.
func asPairs(s beam.Scope, col beam.PCollection) beam.PCollection {
	if f := conversions[typesOf(col)]; f != nil {
		col = beam.ParDo(s, f, col)
	}
	return unwindowed(s, col)
}

// unwindowed returns the elements in the global window. In other windows, Beam would panic at the side inputs.
func unwindowed(s beam.Scope, col beam.PCollection) beam.PCollection {
	return beam.WindowInto(s, window.NewGlobalWindows(), col)
}
