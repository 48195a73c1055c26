// Package tablefilter names the table filters that sst writes: a kind, a colon and the number of bits, as in
// table-bloom:10.
package tablefilter

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// None means no filter.
const None = "none"

// Kinds are the names of filters without their bits, for shell completion.
var Kinds = []string{None, "table-bloom", "fuse", "paged"}

// usualBits are the bits of a filter whose name does not specify them.
var usualBits = map[string]string{"table-bloom": "10", "fuse": "12", "paged": "14"}

// maxBloomBits is the maximum number of bits per key of a TableBloom filter. It is far more than useful.
const maxBloomBits = 1000

// MaxEntries is the maximum number of entries in a table of a set that sst build writes. It is far more than
// useful.
const MaxEntries = 500_000_000

// Policies returns the policies that a Reader needs for all kinds, in addition to the one that it knows.
func Policies() []filter.TablePolicy { return []filter.TablePolicy{fuse.Policy{}, paged.Policy{}} }

// Parse returns the policy of that name, or nil for None. The bits must be written as TableBloom and Fuse write
// them, so that each filter has only one name.
func Parse(name string) (filter.TablePolicy, error) {
	if name == None {
		return nil, nil
	}
	kind, number, given := strings.Cut(name, ":")
	if !given {
		number = usualBits[kind]
	}
	bits, err := strconv.Atoi(number)
	var p filter.TablePolicy
	switch {
	case strconv.Itoa(bits) != number:
	case kind == "table-bloom" && bits >= 1 && bits <= maxBloomBits:
		p = filter.NewTableBloom(bits)
	case kind == "fuse":
		p, err = fuse.New(bits)
	case kind == "paged":
		p, err = paged.New(bits)
	}
	if p != nil && err == nil {
		return p, nil
	}
	hint := ""
	if kind == "bloom" { // its name in other commands
		hint = "; block filters are --bits of sst build"
	}
	return nil, fmt.Errorf("%s, not table-bloom:BITS (1 to %d, default 10), fuse:BITS (4, 8, 10, 12, 14 or 16, default 12) or paged:BITS (1 to %d, default 14)%s", format.Quote([]byte(name)), maxBloomBits, MaxPagedBits, hint)
}

// OfPolicy returns the name of the usual filter of the named policy, or "" if sst does not write its filters.
func OfPolicy(name string) string {
	for _, usual := range []string{TableBloom(10), Fuse(12), Fuse(14), Paged(14)} {
		if p, err := Parse(usual); err == nil && p.Name() == name {
			return usual
		}
	}
	return ""
}

// IsFuse reports whether the named policy writes binary fuse filters.
func IsFuse(policy string) bool {
	p := fuse.Policy{}
	return policy == p.Name() || slices.Contains(p.ReadAliases(), policy)
}

// TableBloom returns the name of a filter.TableBloom.
func TableBloom(bitsPerKey int) string { return fmt.Sprintf("table-bloom:%d", bitsPerKey) }

// Fuse returns the name of a binary fuse filter.
func Fuse(fingerprintBits int) string { return fmt.Sprintf("fuse:%d", fingerprintBits) }

// Paged returns the name of a paged filter.
func Paged(bitsPerKey int) string { return fmt.Sprintf("paged:%d", bitsPerKey) }

// MaxPagedBits is the maximum number of bits per key of a paged filter.
const MaxPagedBits = 64

// A Checked is a policy that checks the memory for its filters before they take it. That memory comes on top of
// --memory.
type Checked struct {
	filter.TablePolicy
	Watch  func(contents []byte) // if not nil, called with each filter that is built
	Stderr io.Writer             // if not nil, gets a note if a filter cannot be large enough for its keys
}

// NewTableGenerator returns an empty TableGenerator.
func (p Checked) NewTableGenerator() filter.TableGenerator {
	return &checkedGenerator{TableGenerator: p.TablePolicy.NewTableGenerator(), Checked: p}
}

// PagedTail calls the policy's method. It returns 0 if the policy is not paged.
func (p Checked) PagedTail() int {
	if p, ok := p.TablePolicy.(paged.Policy); ok {
		return p.PagedTail()
	}
	return 0
}

// OpenPaged calls the method of a paged policy.
func (p Checked) OpenPaged(tail []byte, size uint64) (filter.PagedFilter, error) {
	return paged.Policy{}.OpenPaged(tail, size)
}

// FilterBits calls the policy's method. It returns 0 if the policy is not fuse.
func (p Checked) FilterBits(contents []byte) int {
	if p, ok := p.TablePolicy.(fuse.Policy); ok {
		return p.FilterBits(contents)
	}
	return 0
}

type checkedGenerator struct {
	filter.TableGenerator
	Checked
	n   uint64
	err error // not enough memory; the keys after the first n are left out
}

// memory returns the bytes that a generator holds for n keys, and the further bytes that it takes to generate the
// filter.
func (p Checked) memory(n uint64) (keys, generate uint64) {
	switch p := p.TablePolicy.(type) {
	case filter.TableBloom:
		return 4 * n, uint64(p.Size(n))
	case paged.Policy:
		return 8 * n, p.Size(n)
	}
	n = min(n, fuse.MaxKeys)
	return 8 * n, 24 * n
}

// checkEvery is the number of keys between two checks of the memory.
const checkEvery = 1 << 20

func (g *checkedGenerator) Add(key []byte) {
	if g.err != nil {
		return
	}
	g.TableGenerator.Add(key)
	if g.n++; g.n%checkEvery == 0 {
		had, _ := g.memory(g.n)
		keys, generate := g.memory(g.n + checkEvery)
		if g.err = memory.Check(g.what(), keys-had+generate, MoreMemory); g.err != nil {
			g.TableGenerator = nil // frees the keys
		}
	}
}

func (g *checkedGenerator) what() string { return "the filter of " + text.Count(g.n, "key") }

// SmallerTables says how to get smaller filters.
const SmallerTables = "make a set of smaller tables (--entries-per-table of sst build or sst merge)"

// MoreMemory says what to do if there is too little memory for a filter.
const MoreMemory = "raise the limit, " + SmallerTables + ", or use a filter that needs less memory (--table-filter table-bloom:10)"

// Generate returns the filter.
func (g *checkedGenerator) Generate() ([]byte, error) {
	if g.err != nil {
		return nil, g.err
	}
	_, generate := g.memory(g.n)
	release, err := memory.Take(g.what(), generate, MoreMemory)
	if err != nil {
		return nil, err
	}
	defer release()
	contents, err := g.TableGenerator.Generate()
	if err != nil {
		return nil, err
	}
	if g.Watch != nil {
		g.Watch(contents)
	}
	if p, ok := g.TablePolicy.(filter.TableBloom); ok && g.Stderr != nil {
		NoteBits(g.Stderr, p, g.n)
	}
	return contents, nil
}

// NoteBits prints a note if no filter is large enough for this many keys.
func NoteBits(stderr io.Writer, p filter.TableBloom, keys uint64) {
	if bits := 8 * float64(p.Size(keys)) / float64(keys); bits < float64(p.BitsPerKey()) {
		text.Note(stderr, "a table-bloom filter has at most 512 MiB, so for %s it has %.3g bits per key, not %d", text.Count(keys, "key"), bits, p.BitsPerKey())
	}
}
