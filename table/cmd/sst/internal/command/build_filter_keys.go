package command

import (
	"io"
	"sync"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/memory"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

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
	o.TableFilterPolicy = checkedPolicy{sizedPolicy{p, sync.OnceFunc(func() {
		text.Line(stderr, "sst: note: a filter has more keys than --filter-keys %s, and so another size: it has no union with filters of that size", f.filterKeys)
	})}}
	return nil
}

// A sizedPolicy notes if a filter is larger than it was sized for.
type sizedPolicy struct {
	filter.TableBloom
	noteLarger func()
}

// NewTableGenerator returns an empty TableGenerator.
func (p sizedPolicy) NewTableGenerator() filter.TableGenerator {
	return sizedGenerator{p.TableBloom.NewTableGenerator(), p}
}

type sizedGenerator struct {
	filter.TableGenerator
	policy sizedPolicy
}

// Generate returns the filter.
func (g sizedGenerator) Generate() ([]byte, error) {
	contents, err := g.TableGenerator.Generate()
	if len(contents) > g.policy.Size(1) {
		g.policy.noteLarger()
	}
	return contents, err
}
