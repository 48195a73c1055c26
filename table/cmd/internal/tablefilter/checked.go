package tablefilter

import (
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table/cmd/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// A Checked checks the memory of its filters before they take it. It comes on top of --memory.
type Checked struct{ filter.TablePolicy }

// NewTableGenerator returns an empty TableGenerator.
func (p Checked) NewTableGenerator() filter.TableGenerator {
	return &checkedGenerator{TableGenerator: p.TablePolicy.NewTableGenerator(), policy: p.TablePolicy}
}

// memoryOf returns the bytes that a generator with n keys has, and that it takes besides to generate the filter.
func memoryOf(p filter.TablePolicy, n uint64) (keys, generate uint64) {
	switch p := p.(type) {
	case filter.TableBloom:
		return 4 * n, uint64(p.Size(n))
	case Watched:
		return memoryOf(p.TablePolicy, n)
	}
	n = min(n, fuse.MaxKeys)
	return 8 * n, 24 * n
}

// A Watched calls Watch with each filter that it builds.
type Watched struct {
	filter.TablePolicy
	Watch func(contents []byte)
}

// NewTableGenerator returns an empty TableGenerator.
func (p Watched) NewTableGenerator() filter.TableGenerator {
	return watchedGenerator{p.TablePolicy.NewTableGenerator(), p.Watch}
}

type watchedGenerator struct {
	filter.TableGenerator
	watch func(contents []byte)
}

// Generate returns the filter.
func (g watchedGenerator) Generate() ([]byte, error) {
	contents, err := g.TableGenerator.Generate()
	if err == nil {
		g.watch(contents)
	}
	return contents, err
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
		if g.err = memory.Check(g.what(), keys-had+generate, MoreMemory); g.err != nil {
			g.TableGenerator = nil // frees the keys
		}
	}
}

func (g *checkedGenerator) what() string { return "the filter of " + text.Count(g.n, "key") }

// MoreMemory says what to do if there is too little memory for a filter.
const MoreMemory = "raise the limit, make a set of smaller tables (--entries-per-table), or use a filter that needs less memory (--table-filter table-bloom:10)"

// Generate returns the filter.
func (g *checkedGenerator) Generate() ([]byte, error) {
	if g.err != nil {
		return nil, g.err
	}
	_, generate := memoryOf(g.policy, g.n)
	release, err := memory.Take(g.what(), generate, MoreMemory)
	if err != nil {
		return nil, err
	}
	defer release()
	return g.TableGenerator.Generate()
}
