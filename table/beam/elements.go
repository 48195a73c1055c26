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

// checkValid checks that the pipeline has the Scope and the collection, so that Beam does not panic.
func checkValid(s beam.Scope, what string, col beam.PCollection) error {
	if !s.IsValid() || !col.IsValid() {
		return fmt.Errorf("setio: the Scope or the PCollection of %s is the zero value, want those of a pipeline", what)
	}
	return nil
}

// checkKeys checks that a collection has keys.
func checkKeys(s beam.Scope, what string, col beam.PCollection) error {
	if err := checkValid(s, what, col); err != nil {
		return err
	}
	if t := typesOf(col); t[1] != nil || !hasConversion(t) {
		return fmt.Errorf("setio: the PCollection of %s is of %v, want []byte or string%s", what, col.Type(),
			hintIf(t[1] != nil, ": Write takes keys with values"))
	}
	return nil
}

// checkPairs checks that a collection has pairs.
func checkPairs(s beam.Scope, col beam.PCollection) error {
	if err := checkValid(s, "pairs", col); err != nil {
		return err
	}
	if t := typesOf(col); t[1] == nil || !hasConversion(t) {
		return fmt.Errorf("setio: the PCollection of pairs is of %v, want KV<K,V> of []byte or string each%s", col.Type(),
			hintIf(t[1] == nil && hasConversion(t), ": WriteKeys takes keys without values, and WriteLines names of files"))
	}
	return nil
}

func hintIf(condition bool, hint string) string {
	if condition {
		return hint
	}
	return ""
}

func hasConversion(t [2]reflect.Type) bool {
	_, found := conversions[t]
	return found
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
