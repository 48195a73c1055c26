// Package plan compares filters for tables of a given number of keys: their sizes, their predicted and measured
// false-positive rates, and the disk space and memory of the tables.
package plan

import (
	"errors"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A Query describes what to plan for. Its fields are the flags of sieve plan. Sizes are in bytes.
type Query struct {
	Keys        uint64  `json:"keys"`
	Rate        float64 `json:"requested_rate,omitempty"` // false-positive rate; 0: use BitsPerKey
	BitsPerKey  int     `json:"requested_bits_per_key,omitempty"`
	KeySize     uint64  `json:"key_size"`
	ValueSize   uint64  `json:"value_size"`
	Compression float64 `json:"compression"` // compressed size of data blocks, as a share of the uncompressed size
	BlockSize   uint64  `json:"block_size"`
	TableSize   uint64  `json:"table_size"`
	Memory      uint64  `json:"requested_memory,omitempty"` // memory of a machine; 0: do not plan machines

	Sample *KeySample `json:"-"`                // sample of the keys and values; nil: plan for random keys
	Format string     `json:"format,omitempty"` // format of the Sample's lines, for sst build
	Input  string     `json:"-"`                // the file to build from, as a shell word; "": unknown

	EntriesPerTable uint64 `json:"requested_entries_per_table,omitempty"` // maximum; 0: the default
}

const (
	// Filters use a 32-bit hash of a key, so their rate is at least the probability that two keys have equal
	// hashes. For the smallest filters, that is about minRate.
	minRate = 1e-9

	// maxBits is the maximum number of bits per key. From 44 on, k is 30.
	maxBits = 100
)

// maxKeySize is the maximum size of a planned key.
const maxKeySize = 64 << 10

// Validate returns an error that names the first flag with a wrong value.
func (q Query) Validate() error {
	if err := cli.CheckRange("--bits", q.BitsPerKey, 1, maxBits); err != nil && q.Rate == 0 {
		return err
	}
	if !(q.Compression >= 0.01 && q.Compression <= 1) {
		return cli.UsageErrorf("--compression is %g, not 0.01 to 1", q.Compression)
	}
	for _, f := range []struct {
		flag               string
		value, least, most uint64
	}{
		{"--key-size", q.KeySize, 1, maxKeySize},
		{"--value-size", q.ValueSize, 0, 1 << 30},
		{"--block-size", q.BlockSize, 256, maxBlockSize},
		{"--table-size", q.TableSize, 1 << 20, 4 << 30},
	} {
		if f.value < f.least || f.value > f.most {
			return cli.UsageErrorf("%s is %s, not %s to %s", f.flag, exact(f.value), exact(f.least), exact(f.most))
		}
	}
	return nil
}

// formulaBits returns the bits per key that LevelDB's filters need by the classical formula.
func (q Query) formulaBits() int {
	if q.Rate > 0 {
		return bloom.BitsFor(q.Rate)
	}
	return q.BitsPerKey
}

// formulaBytes returns the size of LevelDB's filters with this many bits per key: of a single filter, if it can
// contain all keys.
func (q Query) formulaBytes(bits int) uint64 {
	if q.Keys <= bloom.MaxBits/uint64(bits) {
		return uint64(filter.NewBloom(bits).Size(q.Keys))
	}
	return (q.Keys*uint64(bits) + 7) / 8
}

// measurable reports whether measurements can show that filters reach the rate.
func (q Query) measurable() bool {
	return q.Rate == 0 || newMeasurement(nil, maxLookups, 0).upper() <= q.Rate
}

// ParseRate parses a rate: 0.01 or 1%. The error says what s is not.
func ParseRate(s string) (float64, error) {
	number, percent := strings.CutSuffix(s, "%")
	p, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent { // p / 100 can be next to the float64 of the rate, as for 0.7, so it is rounded
		p, _ = strconv.ParseFloat(strconv.FormatFloat(p/100, 'g', 15, 64), 64)
	}
	if err != nil || !(p >= minRate && p < 1) {
		return 0, errors.New("not a rate from 1e-9 to below 1, such as 0.01 or 1%")
	}
	return p, nil
}
