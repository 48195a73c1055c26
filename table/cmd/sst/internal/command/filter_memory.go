package command

import (
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// A checkedPolicy checks the memory of its filters before they take it. It comes on top of --memory.
type checkedPolicy struct{ filter.TablePolicy }

// NewTableGenerator returns an empty TableGenerator.
func (p checkedPolicy) NewTableGenerator() filter.TableGenerator {
	return &checkedGenerator{TableGenerator: p.TablePolicy.NewTableGenerator(), policy: p.TablePolicy}
}

// memoryOf returns the bytes that a generator with n keys has, and that it takes besides to generate the filter.
func memoryOf(p filter.TablePolicy, n uint64) (keys, generate uint64) {
	switch p := p.(type) {
	case filter.TableBloom:
		return 4 * n, uint64(p.Size(n))
	case sizedPolicy:
		return 4 * n, uint64(p.Size(n))
	}
	n = min(n, fuse.MaxKeys)
	return 8 * n, 24 * n
}

type checkedGenerator struct {
	filter.TableGenerator
	policy filter.TablePolicy
	n      uint64
	err    error // the memory does not suffice, and the keys behind the first n are left out
}

// checkEvery is for how many keys the memory is checked at once.
const checkEvery = 1 << 20

func (g *checkedGenerator) Add(key []byte) {
	if g.err != nil {
		return
	}
	g.TableGenerator.Add(key)
	if g.n++; g.n%checkEvery == 0 {
		had, _ := memoryOf(g.policy, g.n)
		keys, generate := memoryOf(g.policy, g.n+checkEvery)
		if g.err = memory.Check(g.what(), keys-had+generate, moreMemoryForFilter); g.err != nil {
			g.TableGenerator = nil // frees the keys
		}
	}
}

func (g *checkedGenerator) what() string { return "the filter of " + text.Count(g.n, "key") }

const moreMemoryForFilter = "raise the limit, make a set of smaller tables (--entries-per-table), or use a filter that needs less memory (--table-filter table-bloom:10)"

// Generate returns the filter.
func (g *checkedGenerator) Generate() ([]byte, error) {
	if g.err != nil {
		return nil, g.err
	}
	_, generate := memoryOf(g.policy, g.n)
	release, err := memory.Take(g.what(), generate, moreMemoryForFilter)
	if err != nil {
		return nil, err
	}
	defer release()
	return g.TableGenerator.Generate()
}
