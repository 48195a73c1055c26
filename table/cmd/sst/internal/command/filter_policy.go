package command

import (
	"io"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filterfile"
	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
)

// sizeFilter sets the size of the filter of the table, if --filter-keys is given.
func (f *buildFlags) sizeFilter(o *table.WriterOptions, stderr io.Writer) error {
	if f.filterKeys == "" {
		return nil
	}
	keys, err := cli.ParseCount("--filter-keys", f.filterKeys, tablefilter.MaxEntries)
	if err != nil {
		return err
	}
	checked, _ := o.TableFilterPolicy.(tablefilter.Checked)
	p, ok := checked.TablePolicy.(filter.TableBloom)
	if !ok {
		return cli.UsageErrorf("--filter-keys is given, and --table-filter is %s: want table-bloom:BITS, since other filters have no union", f.tableFilter)
	}
	o.TableFilterPolicy, err = filterfile.Sized(p, keys, stderr)
	return err
}
