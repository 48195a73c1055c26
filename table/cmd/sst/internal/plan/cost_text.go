package plan

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A costTable is a part of the costs, with columns that a row has for each Option.
type costTable struct {
	title   string
	headers []string
	row     func(o Option) []string
}

// writeCosts writes what the tables cost as a set in object storage: those of each kind with
// the bits that are asked for.
func (p *Plan) writeCosts(out *bytes.Buffer) {
	for _, t := range []costTable{p.buildTable(), p.openTable(), p.lookupTable()} {
		fmt.Fprintln(out, t.title)
		writeCostRow(out, "filters", "blocks", t.headers)
		for _, o := range slices.Concat(p.WithData, p.LargerBlocks, p.FilterOnly) {
			if !o.Chosen {
				continue
			}
			blocks := "none"
			if !o.FilterOnly {
				blocks = exact(o.BlockSize)
			}
			writeCostRow(out, o.filters(), blocks, t.row(o))
		}
	}
	fmt.Fprintf(out, "The pipeline of table/beam takes %s core-hours to sort and build%s.\n", amount(p.BeamHours), bracketed(p.BeamPrice))
}

// writeCostRow writes a row of the costs. Columns of prices that are not given are empty.
func writeCostRow(out *bytes.Buffer, filters, blocks string, columns []string) {
	row := fmt.Sprintf("%-24s %6s", filters, blocks)
	for i, c := range columns {
		row += fmt.Sprintf(" %*s", costWidths[i], c)
	}
	fmt.Fprintln(out, strings.TrimRight(row, " "))
}

// costWidths are the widths of columns.
var costWidths = []int{14, 14, 12, 11, 11}

func (p *Plan) buildTable() costTable {
	return costTable{
		"As a set in object storage. To build it by sst build, and to keep it:",
		[]string{"sorted, h", "unsorted, h", "writes", priced(p.Core, p.Put, p.Request), monthly(p.Storage)},
		func(o Option) []string {
			return []string{amount(o.SortedHours), amount(o.UnsortedHours), p.most(o) + requests(o.PutRequests), priceText(o.BuildPrice), p.mostPrice(o)}
		},
	}
}

func (p *Plan) openTable() costTable {
	return costTable{
		"To open all its tables, and in memory while another set takes its place:",
		[]string{"requests", "bytes", "core-hours", "in a swap", priced(p.Core, p.Request)},
		func(o Option) []string {
			return []string{requests(o.OpenRequests), size(o.OpenBytes), amount(o.OpenHours), size(o.SwapMemory), priceText(o.OpenPrice)}
		},
	}
}

func (p *Plan) lookupTable() costTable {
	return costTable{
		fmt.Sprintf("For 10⁹ lookups, %.6g %% of them of present keys:", 100*p.Present),
		[]string{"requests", "bytes", "core-hours", priced(p.Core, p.Request)},
		func(o Option) []string {
			bound := ""
			if o.isBound() && o.LookupRequests > 0 {
				bound = "≤ "
			}
			return []string{bound + amount(o.LookupRequests), cmp.Or(bound, p.most(o)) + size(o.LookupBytes), bound + amount(o.LookupHours), priceText(o.LookupPrice)}
		},
	}
}

// requests formats a number of requests that is known, exactly unless that is very long.
func requests(n float64) string {
	if n >= 1e12 {
		return amount(n)
	}
	return count(n)
}

// priced returns the title of a column of prices, or nothing if none is known.
func priced(prices ...*float64) string {
	if sum(prices...) == nil {
		return ""
	}
	return "price"
}

// most returns the mark of what depends on the size of data blocks, if that is the most that they take.
func (p *Plan) most(o Option) string {
	if p.Sample == nil && !o.FilterOnly {
		return "≤ "
	}
	return ""
}

// mostPrice formats the price of storage.
func (p *Plan) mostPrice(o Option) string {
	if o.StoragePrice == nil {
		return ""
	}
	return p.most(o) + amount(*o.StoragePrice)
}

func monthly(storage *float64) string {
	if storage == nil {
		return ""
	}
	return "a month"
}

func priceText(price *float64) string {
	if price == nil {
		return ""
	}
	return amount(*price)
}

func bracketed(price *float64) string {
	if price == nil {
		return ""
	}
	return " (price " + amount(*price) + ")"
}
