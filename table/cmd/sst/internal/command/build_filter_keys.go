package command

import (
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/plan"
)

// sizeFilter sets the size of the filter of the table, if --filter-keys is given.
func (f *buildFlags) sizeFilter(o *table.WriterOptions) error {
	if f.filterKeys == "" {
		return nil
	}
	keys, err := plan.ParseKeys("--filter-keys", f.filterKeys, plan.MaxEntries)
	if err != nil {
		return err
	}
	p, ok := o.TableFilterPolicy.(filter.TableBloom)
	if !ok {
		return cli.UsageErrorf("--filter-keys is given, and --table-filter is %s: want table-bloom:BITS, since other filters have no union", f.tableFilter)
	}
	o.TableFilterPolicy = p.SizedFor(keys)
	return nil
}
