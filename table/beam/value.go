package setio

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
)

// Between workers, an entry travels as its key and a value that begins with one of these bytes. The value
// of a key that has none, or an empty one, is empty: so keys alone take no byte more.
const (
	kindSet    = 0 // followed by the value
	kindRemove = 1 // the key is to be removed
)

// appendValue appends the value of a pair as it travels.
func appendValue(dst, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(append(dst, kindSet), value...)
}

// splitValue returns the value of a pair, or whether the key is to be removed.
func splitValue(travelling []byte) (value []byte, removed bool) {
	switch {
	case len(travelling) == 0:
		return nil, false
	case travelling[0] == kindRemove:
		return nil, true
	}
	return travelling[1:], false
}

// unique returns f without the entries that are there again. They come in ascending order of the keys. Two
// values for a key are an error: nothing says which of them to keep.
func unique(f func(key, value []byte) error) func(key, value []byte) error {
	var lastKey, lastValue []byte
	return func(key, value []byte) error {
		if lastKey != nil && bytes.Equal(key, lastKey) {
			if bytes.Equal(value, lastValue) {
				return nil
			}
			return conflict(key, lastValue, value)
		}
		if err := f(key, value); err != nil {
			return err
		}
		lastKey, lastValue = format.AppendNotNil(lastKey[:0], key), append(lastValue[:0], value...)
		return nil
	}
}

// conflict is the error for a key with two values, as they travel.
func conflict(key, a, b []byte) error {
	a, aRemoved := splitValue(a)
	b, bRemoved := splitValue(b)
	if aRemoved || bRemoved {
		return fmt.Errorf("setio: key %s is both among the entries and in Removals, want it in one of them",
			format.Quote(key))
	}
	if bytes.Compare(a, b) > 0 {
		a, b = b, a // whichever came first
	}
	return fmt.Errorf("setio: key %s has the values %s and %s, want one: combine the values of each key before, "+
		"as by beam.CombinePerKey", format.Quote(key), format.Quote(a), format.Quote(b))
}
