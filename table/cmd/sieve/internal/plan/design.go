package plan

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
)

// A Design describes tables: their filters, and whether they contain data.
type Design struct {
	BlockBits   int    `json:"block_filter_bits,omitempty"` // per key; 0: no block filters
	TableFilter string `json:"table_filter,omitempty"`      // as in package tablefilter
	FilterOnly  bool   `json:"filter_only,omitempty"`       // no keys and values
	BlockSize   uint64 `json:"block_size,omitempty"`        // 0 if FilterOnly

	table tableFilter
}

// A tableFilter describes a table filter. The zero value is none.
type tableFilter struct {
	bloomBits int // per key
	fuseBits  int // per fingerprint
}

// maxBloomKeys is the maximum number of keys in a planned table with a TableBloom filter. Its hash has 32 bits:
// with 10 million keys, 0.23 % of all absent keys have the hash of a key.
const maxBloomKeys = 1_000_000

// fuseSizes are the possible numbers of bits per fingerprint.
var fuseSizes = []int{4, 8, 10, 12, 14, 16}

func (f tableFilter) name() string {
	switch {
	case f.bloomBits > 0:
		return tablefilter.TableBloom(f.bloomBits)
	case f.fuseBits > 0:
		return tablefilter.Fuse(f.fuseBits)
	}
	return ""
}

// policy returns the policy that builds the filters. It returns nil if there are none.
func (f tableFilter) policy() filter.TablePolicy {
	p, err := tablefilter.Parse(cmp.Or(f.name(), tablefilter.None))
	if err != nil {
		panic(err) // cannot happen with the sizes of this package
	}
	return p
}

// maxKeys returns the maximum number of keys in a planned table.
func (f tableFilter) maxKeys() float64 {
	switch {
	case f.bloomBits > 0:
		return maxBloomKeys
	case f.fuseBits > 0:
		return fuse.MaxKeys
	}
	return math.Inf(1)
}

// bytes returns the size of the filter for a table of n keys.
func (f tableFilter) bytes(n float64) float64 {
	switch {
	case n < 1:
		return 0
	case f.bloomBits > 0:
		return float64(filter.NewTableBloom(f.bloomBits).Size(uint64(n)))
	case f.fuseBits > 0:
		return float64(f.policy().(fuse.Policy).Size(int(n)))
	}
	return 0
}

// totalBytes returns the size of all filters for n keys in tables of perTable keys.
func (f tableFilter) totalBytes(n, perTable float64) float64 {
	full := math.Floor(n / perTable)
	return full*f.bytes(perTable) + f.bytes(n-full*perTable)
}

func newDesign(blockBits int, f tableFilter, blockSize uint64) Design {
	return Design{BlockBits: blockBits, TableFilter: f.name(), FilterOnly: blockSize == 0, BlockSize: blockSize, table: f}
}

// filters names the filters.
func (d Design) filters() string {
	var names []string
	if d.BlockBits > 0 {
		names = append(names, fmt.Sprintf("bloom:%d", d.BlockBits))
	}
	if d.TableFilter != "" {
		names = append(names, d.TableFilter)
	}
	return strings.Join(names, "+")
}

// command returns the command that builds a set of tables of at most keysPerTable keys, or one table of all keys.
func (q Query) command(d Design, tables, keysPerTable float64) string {
	words := []string{"sst build"}
	switch {
	case d.FilterOnly:
		words = append(words, "--filter-only")
	case d.BlockBits == 0:
		words = append(words, "--bits none")
	default:
		words = append(words, fmt.Sprintf("--bits %d", d.BlockBits))
	}
	if d.TableFilter != "" {
		words = append(words, "--table-filter "+d.TableFilter)
	}
	if !d.FilterOnly {
		words = append(words, "--block-size "+exact(d.BlockSize))
	}
	if q.Format != "" {
		words = append(words, "--input-format "+q.Format)
	} else if q.ValueSize == 0 && q.Sample == nil {
		words = append(words, "--input-format raw-keys") // each line is a key, whatever its bytes
	}
	if q.repeats() && !d.FilterOnly { // filters accept repeated keys
		words = append(words, "--on-duplicate first")
	}
	out := "-o OUT"
	if tables > 1 {
		out = fmt.Sprintf("--entries-per-table %.0f -o DIR/", keysPerTable)
	}
	return strings.Join(append(words, out, cmp.Or(q.Input, "INPUT")), " ")
}

// repeats reports whether keys may be repeated. In a list of keys without values they may, even if the sample has
// no repeated keys.
func (q Query) repeats() bool {
	if s := q.Sample; s != nil {
		return s.repeats || s.bytes == s.keyBytes
	}
	return q.ValueSize == 0
}
