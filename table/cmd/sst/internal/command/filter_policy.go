package command

import (
	"io"
	"sync"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
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
	case watchedPolicy:
		return memoryOf(p.TablePolicy, n)
	}
	n = min(n, fuse.MaxKeys)
	return 8 * n, 24 * n
}

// A watchedPolicy calls watch with each filter that it builds.
type watchedPolicy struct {
	filter.TablePolicy
	watch func(contents []byte)
}

// NewTableGenerator returns an empty TableGenerator.
func (p watchedPolicy) NewTableGenerator() filter.TableGenerator {
	return watchedGenerator{p.TablePolicy.NewTableGenerator(), p.watch}
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

// sizeFilter sets the size of the filter of the table, if --filter-keys is given.
func (f *buildFlags) sizeFilter(o *table.WriterOptions, stderr io.Writer) error {
	if f.filterKeys == "" {
		return nil
	}
	keys, err := cli.ParseCount("--filter-keys", f.filterKeys, plan.MaxEntries)
	if err != nil {
		return err
	}
	if !f.filterOnly {
		return cli.UsageErrorf("--filter-keys is given without --filter-only, want both: only filters without entries have a union")
	}
	checked, _ := o.TableFilterPolicy.(checkedPolicy)
	p, ok := checked.TablePolicy.(filter.TableBloom)
	if !ok {
		return cli.UsageErrorf("--filter-keys is given, and --table-filter is %s: want table-bloom:BITS, since other filters have no union", f.tableFilter)
	}
	p = p.SizedFor(keys)
	if err := memory.Check("a filter for "+text.Count(keys, "key"), uint64(p.Size(keys)), moreMemoryForFilter); err != nil {
		return err
	}
	noteLarger := sync.OnceFunc(func() {
		text.Line(stderr, "sst: note: a filter has more keys than --filter-keys %s, and so another size: it has no union with filters of that size", f.filterKeys)
	})
	o.TableFilterPolicy = checkedPolicy{watchedPolicy{p, func(contents []byte) {
		if len(contents) > p.Size(1) {
			noteLarger()
		}
	}}}
	return nil
}
