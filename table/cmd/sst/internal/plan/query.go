// Package plan computes the size of tables for a number of keys: their filters, with
// formula and measured false-positive rates, their disk space and their memory.
package plan

import (
	"errors"
	"fmt"
)

// A Query is what to plan for. Its fields are the flags of sst plan. Sizes are in bytes.
type Query struct {
	Keys        uint64
	Rate        float64 // false-positive rate; 0: use BitsPerKey
	BitsPerKey  int
	KeySize     uint64
	ValueSize   uint64
	Compression float64 // compressed size of data blocks, as a share of their size
	BlockSize   uint64
	TableSize   uint64
	Memory      uint64 // memory of a machine; 0: do not plan machines
}

const (
	maxKeys = 1e15

	// Filters use a 32-bit hash of a key, so their rate is at least the chance that two
	// keys have the same hash. In the smallest filters that is about minRate.
	minRate = 1e-9

	// maxBits is the maximum number of bits per key. From 44 on, k is 30.
	maxBits = 100
)

// Validate returns an error that names the first flag with a wrong value.
func (q Query) Validate() error {
	switch {
	case q.Rate == 0 && q.BitsPerKey == 0:
		return errors.New("neither -p nor --bits is given, want one of them")
	case q.Rate != 0 && q.BitsPerKey != 0:
		return errors.New("-p and --bits are both given, want one of them")
	}
	if q.Rate == 0 && (q.BitsPerKey < 1 || q.BitsPerKey > maxBits) {
		return fmt.Errorf("--bits is %d, want 1 to %d", q.BitsPerKey, maxBits)
	}
	if !(q.Compression >= 0.01 && q.Compression <= 1) {
		return fmt.Errorf("--compression is %g, want 0.01 to 1", q.Compression)
	}
	return q.validateSizes()
}

func (q Query) validateSizes() error {
	for _, f := range []struct {
		flag               string
		value, least, most uint64
	}{
		{"--key-size", q.KeySize, 1, 64 << 10},
		{"--value-size", q.ValueSize, 0, 1 << 30},
		{"--block-size", q.BlockSize, 256, maxBlockSize},
		{"--table-size", q.TableSize, 1 << 20, 4 << 30},
	} {
		if f.value < f.least || f.value > f.most {
			return fmt.Errorf("%s is %s, want %s to %s", f.flag, exact(f.value), exact(f.least), exact(f.most))
		}
	}
	return nil
}
