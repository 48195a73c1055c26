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

// These functions make pairs of bytes of the elements that users have.
func keyOfBytes(key []byte) ([]byte, []byte)                  { return key, nil }
func keyOfString(key string) ([]byte, []byte)                 { return []byte(key), nil }
func pairOfStrings(key, value string) ([]byte, []byte)        { return []byte(key), []byte(value) }
func pairOfStringBytes(key string, v []byte) ([]byte, []byte) { return []byte(key), v }
func pairOfBytesString(key []byte, v string) ([]byte, []byte) { return key, []byte(v) }

var (
	bytesType  = reflect.TypeFor[[]byte]()
	stringType = reflect.TypeFor[string]()
)

// conversions are the functions that make pairs of bytes, by the types of key and value. That of the
// value is nil for a key alone. A function is nil if nothing is to be done.
var conversions = map[[2]reflect.Type]any{
	{bytesType, nil}:         keyOfBytes,
	{stringType, nil}:        keyOfString,
	{stringType, stringType}: pairOfStrings,
	{stringType, bytesType}:  pairOfStringBytes,
	{bytesType, stringType}:  pairOfBytesString,
	{bytesType, bytesType}:   nil,
}

// checkElements checks that a collection is of the pipeline, so that Beam does not panic, and that its
// elements are keys, or keys and values. want says which.
func checkElements(s beam.Scope, what string, col beam.PCollection, pairs bool, want string) error {
	if !s.IsValid() || !col.IsValid() {
		return fmt.Errorf("setio: the Scope or the PCollection of %s is the zero value, want those of a pipeline", what)
	}
	t := typesOf(col)
	if _, found := conversions[t]; !found || pairs != (t[1] != nil) {
		return fmt.Errorf("setio: the PCollection of %s is of %v, want %s", what, col.Type(), want)
	}
	return nil
}

// typesOf returns the types of key and value. That of the value is nil for a collection of keys.
func typesOf(col beam.PCollection) [2]reflect.Type {
	t := col.Type()
	if typex.IsKV(t) {
		return [2]reflect.Type{t.Components()[0].Type(), t.Components()[1].Type()}
	}
	return [2]reflect.Type{t.Type(), nil}
}

// asPairs returns the elements as pairs of bytes, in the global window: the set has them all, and steps
// emit what they sort when a bundle ends.
func asPairs(s beam.Scope, col beam.PCollection) beam.PCollection {
	if f := conversions[typesOf(col)]; f != nil {
		col = beam.ParDo(s, f, col)
	}
	return beam.WindowInto(s, window.NewGlobalWindows(), col)
}
