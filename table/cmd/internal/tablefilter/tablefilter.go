// Package tablefilter names the filters of whole tables that sst writes: a kind, a colon and
// the number of bits, as in table-bloom:10.
package tablefilter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/internal/wire"
)

// None is the name of no filter.
const None = "none"

// Kinds are the names of filters without their bits: table-bloom is table-bloom:10, and fuse is
// fuse:12. They are suggested for a flag.
var Kinds = []string{None, "table-bloom", "fuse"}

// maxBloomBits is the most bits per key of a TableBloom filter. It is much more than useful.
const maxBloomBits = 1000

// MaxEntries is the most entries of a table of a set that sst build writes. A table of as many is
// far too large for a set.
const MaxEntries = 500_000_000

// Policies returns the policies that a Reader needs to use each kind, beside the one that it
// knows.
func Policies() []filter.TablePolicy { return []filter.TablePolicy{fuse.Policy{}} }

// Parse returns the policy of that name, or nil for None. The bits are written as TableBloom and
// Fuse write them: a filter has one name.
func Parse(name string) (filter.TablePolicy, error) {
	kind, number, hasNumber := strings.Cut(name, ":")
	bits, err := strconv.Atoi(number)
	switch {
	case name == None:
		return nil, nil
	case hasNumber && (err != nil || strconv.Itoa(bits) != number):
	case kind == "table-bloom" && !hasNumber:
		return filter.NewTableBloom(10), nil
	case kind == "table-bloom" && bits >= 1 && bits <= maxBloomBits:
		return filter.NewTableBloom(bits), nil
	case kind == "fuse" && !hasNumber:
		return fuse.Policy{}, nil
	case kind == "fuse":
		if p, err := fuse.New(bits); err == nil {
			return p, nil
		}
	}
	return nil, fmt.Errorf("%s, want none, table-bloom:BITS with 1 to %d bits per key, or fuse:BITS with 4, 8, 10, 12, 14 or 16 (table-bloom is table-bloom:10, fuse is fuse:12)%s", wire.Quote([]byte(name)), maxBloomBits, blockHint(name))
}

// blockHint says how a filter of blocks is asked for, which other commands call bloom:10.
func blockHint(name string) string {
	kind, number, _ := strings.Cut(name, ":")
	if kind != "bloom" {
		return ""
	}
	if _, err := strconv.ParseUint(number, 10, 16); err != nil {
		number = "10"
	}
	return fmt.Sprintf("; bloom:%s is a filter of blocks: want --bits %s", number, number)
}

// OfPolicy returns the name of the usual filter of a policy, or "" if sst does not write it.
func OfPolicy(name string) string {
	if name == (filter.TableBloom{}).Name() {
		return TableBloom(10)
	}
	for _, bits := range []int{12, 14} {
		if p, err := fuse.New(bits); err == nil && p.Name() == name {
			return Fuse(bits)
		}
	}
	return ""
}

// IsFuse reports whether the policy of that name writes binary fuse filters.
func IsFuse(policy string) bool {
	p := fuse.Policy{}
	return policy == p.Name() || slices.Contains(p.ReadAliases(), policy)
}

// TableBloom returns the name of a filter.TableBloom.
func TableBloom(bitsPerKey int) string { return fmt.Sprintf("table-bloom:%d", bitsPerKey) }

// Fuse returns the name of a binary fuse filter.
func Fuse(fingerprintBits int) string { return fmt.Sprintf("fuse:%d", fingerprintBits) }
