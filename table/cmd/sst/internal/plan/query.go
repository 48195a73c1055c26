// Package plan computes what tables of so many keys take: their filters at a
// false-positive rate, with what that rate really is, their disk and their memory.
package plan

import "fmt"

// A Query is what is planned for. Its fields are the flags of "sst plan"; sizes are
// in bytes.
type Query struct {
	Keys        uint64
	Rate        float64 // of false positives; 0: BitsPerKey is given instead
	BitsPerKey  int
	KeySize     uint64
	ValueSize   uint64
	Compression float64 // what share of their bytes data blocks keep
	BlockSize   uint64
	TableSize   uint64
	Memory      uint64 // of a machine; 0: machines are not counted
}

const (
	maxKeys = 1e15

	// A filter that sees 32 bits of a key cannot err less often than two keys
	// have the same, which is about minRate in the smallest of filters.
	minRate = 1e-9

	// The most bits per key: k is 30 from 44 on.
	maxBits = 100
)

// Validate returns an error that names the first flag with a wrong value.
func (q Query) Validate() error {
	if (q.Rate == 0) == (q.BitsPerKey == 0) {
		return fmt.Errorf("-p and --bits are alternatives, want one of them")
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
