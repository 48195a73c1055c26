package plan

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// writeCosts writes what the tables cost as a set in object storage: those of each kind with
// the bits that are asked for.
func (p *Plan) writeCosts(out *bytes.Buffer) {
	fmt.Fprintf(out, "As a set in object storage, with %.6g %% of the lookups for present keys:\n", 100*p.Present)
	p.writeCostRow(out, "", "", "open all tables", "", "10⁹ lookups", "")
	p.writeCostRow(out, "filters", "blocks", "requests", "price", "requests", "price")
	for _, o := range slices.Concat(p.WithData, p.LargerBlocks, p.FilterOnly) {
		if !o.Chosen {
			continue
		}
		blocks := "none"
		if !o.FilterOnly {
			blocks = exact(o.BlockSize)
		}
		p.writeCostRow(out, o.filters(), blocks, count(o.OpenRequests), priceText(o.OpenPrice), o.lookupRequests(), priceText(o.LookupPrice))
	}
	fmt.Fprintf(out, "Build: %s by sst build from sorted keys,\n    or %s by table/beam from unsorted ones.\n",
		coreHours(p.Build.SortedHours, p.Build.SortedPrice), coreHours(p.Build.UnsortedHours, p.Build.UnsortedPrice))
}

// writeCostRow writes a row of the costs. Prices are left out if none is given.
func (p *Plan) writeCostRow(out *bytes.Buffer, filters, blocks, open, openPrice, lookups, lookupPrice string) {
	row := fmt.Sprintf("%-24s %6s %15s", filters, blocks, open)
	if p.RequestPrice != nil {
		row += fmt.Sprintf(" %10s", openPrice)
	}
	row += fmt.Sprintf(" %15s", lookups)
	if p.RequestPrice != nil {
		row += fmt.Sprintf(" %10s", lookupPrice)
	}
	fmt.Fprintln(out, strings.TrimRight(row, " "))
}

// lookupRequests formats the requests for lookups, which are at most those where the rate is
// only known to be less than a bound.
func (o Option) lookupRequests() string {
	if o.isBound() && o.LookupRequests > 0 {
		return "≤ " + amount(o.LookupRequests)
	}
	return amount(o.LookupRequests)
}

func priceText(price *float64) string {
	if price == nil {
		return ""
	}
	return amount(*price)
}

// coreHours formats core-hours, and their price if it is known.
func coreHours(hours float64, price *float64) string {
	if price == nil {
		return amount(hours) + " core-hours"
	}
	return fmt.Sprintf("%s core-hours (price %s)", amount(hours), amount(*price))
}
