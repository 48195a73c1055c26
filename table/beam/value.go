package setio

import (
	"bytes"
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
)

// Between workers, an entry's value is preceded by one of these bytes. An empty or missing value has none, so that
// keys alone do not take more space.
const (
	kindSet    = 0 // followed by the value
	kindRemove = 1 // the key is to be removed
)

// appendValue appends a value, encoded for the way between workers.
func appendValue(dst, value []byte) []byte {
	if len(value) == 0 {
		return dst
	}
	return append(append(dst, kindSet), value...)
}

// splitValue decodes the value, or reports that the key is to be removed.
func splitValue(encoded []byte) (value []byte, removed bool) {
	switch {
	case len(encoded) == 0:
		return nil, false
	case encoded[0] == kindRemove:
		return nil, true
	}
	return encoded[1:], false
}

// unique returns a function that calls f once for each distinct entry, in ascending key order. Two values for a key
// are an error, since a PCollection has no order.
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

// conflict returns the error for a key with two values, as encoded by appendValue.
func conflict(key, a, b []byte) error {
	a, aRemoved := splitValue(a)
	b, bRemoved := splitValue(b)
	if aRemoved || bRemoved {
		return fmt.Errorf("setio: key %s is both added and removed by the layer: take it out of the entries or of Removals",
			format.Quote(key))
	}
	if bytes.Compare(a, b) > 0 {
		a, b = b, a // so that the error is always the same
	}
	return fmt.Errorf("setio: key %s has two values, %s and %s: combine the values of each key before, for example with "+
		"beam.CombinePerKey", format.Quote(key), format.Quote(a), format.Quote(b))
}
