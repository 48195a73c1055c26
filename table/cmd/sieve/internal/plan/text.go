package plan

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/figures"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

// WriteText writes the plan as a table, followed by what to do.
func (p *Plan) WriteText(w io.Writer) error {
	var out bytes.Buffer
	values := "without values"
	if p.ValueSize > 0 {
		values = "with values of " + size(float64(p.ValueSize))
	}
	fmt.Fprintf(&out, "%s of %s %s; goal: %s\n", text.Count(p.Keys, "key"), size(float64(p.KeySize)), values, p.goal())
	fmt.Fprintf(&out, "LevelDB's filters by the classical formula: %s per key, k = %d, %s, %s false positives\n\n",
		text.Count(uint64(p.FormulaBits), "bit"), p.FormulaK, size(float64(p.FormulaBytes)), percent(p.FormulaRate))
	p.writeRow(&out, "", "", "", "", "", "", "", "false positives", "")
	p.writeRow(&out, "machines", "meets goal", "filters", "blocks", "bits/key", "memory", "disk", "measured", "predicted")
	p.writeSection(&out, "with keys and values", p.WithData)
	p.writeSection(&out, "with larger blocks, where better", p.LargerBlocks)
	p.writeSection(&out, "filters only: no keys, values or index", p.FilterOnly)
	out.WriteByte('\n')
	p.writeVerdict(&out)
	fmt.Fprintln(&out, "\n"+p.basis())
	_, err := w.Write(out.Bytes())
	return err
}

// goal describes the rate or bits, and the memory, that the plan is for.
func (p *Plan) goal() string {
	goal := "about " + text.Count(uint64(p.BitsPerKey), "bit") + " per key"
	if p.Rate > 0 {
		goal = "≤ " + exactPercent(p.Rate) + " false positives"
	}
	if p.Memory > 0 {
		goal += ", ≤ " + size(float64(p.Memory)) + " of memory"
	}
	return goal
}

// writeRow writes a row of the table. The last two columns depend on the goal.
func (p *Plan) writeRow(out *bytes.Buffer, machines, meets string, cells ...any) {
	row := fmt.Sprintf("%-24s %6s %8s %8s %10s  %-17s %10s", cells...)
	switch {
	case p.Memory > 0:
		row += fmt.Sprintf(" %8s  %s", machines, meets)
	case p.Rate > 0:
		row += "  " + meets
	}
	fmt.Fprintln(out, strings.TrimRight(row, " "))
}

func (p *Plan) writeSection(out *bytes.Buffer, title string, options []Option) {
	if len(options) > 0 {
		fmt.Fprintf(out, "%s:\n", title)
	}
	for _, o := range options {
		blocks, machines, disk := "", "none", size(o.DiskBytes)
		if !o.FilterOnly {
			blocks = exact(o.BlockSize)
		}
		if p.Sample == nil && !o.FilterOnly {
			disk = "≤ " + disk // keys that are not random share more
		}
		if o.Machines > 0 {
			machines = count(o.Machines)
		}
		bits := fmt.Sprintf("%.1f", o.BitsPerKey)
		p.writeRow(out, machines, o.verdict(),
			" "+o.filters(), blocks, bits, size(o.MemoryBytes), disk, o.Measurement, percent(o.PredictedRate))
	}
}

// basis describes the keys for which the sizes and rates hold.
func (p *Plan) basis() string {
	if p.Sample == nil {
		return "Sizes and rates are for random keys. Sizes with ≤ are upper bounds for keys of this size: to plan for\n" +
			"your own keys, use --sample. If keys differ only in their last bytes, as consecutive numbers do,\n" +
			"bloom and table-bloom can have far more false positives. fuse does not."
	}
	basis := fmt.Sprintf("Sizes and rates were estimated from %s of a list of %s.", text.Count(uint64(p.SampleKeys), "key"), count(float64(p.SampleListKeys)))
	for _, o := range slices.Concat(p.WithData, p.LargerBlocks, p.FilterOnly) {
		if o.table.bloomBits > 0 && float64(o.MeasuredKeys) < min(o.KeysPerTable, maxMeasuredKeys)/2 {
			basis += fmt.Sprintf("\nToo few for table-bloom: its rates were measured in filters of %s, and larger ones have more false positives.", text.Count(uint64(o.MeasuredKeys), "key"))
			break
		}
	}
	if float64(p.Keys) > roughFrom*p.Sample.likeKeys() {
		basis += "\nThe sample is less than 1 % of the planned keys: sizes can be off by more than 20 %. Use a larger sample."
	}
	return basis
}

// roughFrom is the largest ratio of planned keys to the sample's at which sizes are within 20 %. It was measured
// with lists of names and of URLs, on one host and on many.
const roughFrom = 100

// verdict says whether the Option meets the goal. For filters alone, it also says in how many tables, since some
// rates grow with the keys of a table.
func (o Option) verdict() string {
	switch {
	case o.meets() && o.FilterOnly && o.Tables > 1:
		return "yes, in " + text.Count(uint64(o.Tables), "table")
	case o.meets():
		return "yes"
	case o.MeetsRate:
		return "no: memory"
	case o.MeetsMemory:
		return "no: rate"
	}
	return "no: both"
}

// String formats the rate and its band, or the upper bound of the rate.
func (m Measurement) String() string {
	if m.isBound() {
		return "< " + percent(m.upper())
	}
	decimals := max(0, -magnitude(m.Band), 1-magnitude(m.MeasuredRate))
	return fmt.Sprintf("%.*f ± %.*f %%", decimals, 100*m.MeasuredRate, decimals, 100*m.Band)
}

// writeVerdict says what to build.
func (p *Plan) writeVerdict(out *bytes.Buffer) {
	if p.Best == nil {
		fmt.Fprintf(out, "No filter reaches %s.\n", exactPercent(p.Rate))
		return
	}
	criterion, none := "Least memory", "Nothing meets the goal on one machine."
	if p.Rate == 0 {
		criterion, none = fmt.Sprintf("Lowest rate in about %s per key", text.Count(uint64(p.BitsPerKey), "bit")), "No filter of this size fits on one machine."
	}
	if !p.Best.MeetsMemory {
		fmt.Fprintln(out, none)
	}
	p.Best.describe(out, criterion)
	if p.BestWithData != nil && p.Best.FilterOnly {
		p.BestWithData.describe(out, criterion+" with keys and values")
	}
	p.writePaged(out)
	if p.Best.Tables > 1 {
		fmt.Fprintln(out, "\nDIR/ is a set: a lookup checks only one table. If it checked all, their false positives would add up.")
	}
}

// writePaged says up to how many lookups per process a paged filter reads less.
func (p *Plan) writePaged(out *bytes.Buffer) {
	lookups, bits := p.Best.FilterBytes/paged.PageSize, p.pagedBits()
	if bits == 0 || lookups < 10 {
		return
	}
	unit := math.Pow10(int(math.Log10(lookups)) - 1) // two digits are enough
	fmt.Fprintf(out, "\nFor fewer than about %s lookups per process, --table-filter paged:%d reads less: 4 KiB per\n"+
		"lookup, and nothing up front.\n", count(math.Round(lookups/unit)*unit), bits)
}

// pagedBits returns the bits per key of paged filters that meet the Query, or 0 if none do.
func (p *Plan) pagedBits() int {
	for bits := 1; ; bits++ {
		f, err := paged.New(bits)
		switch {
		case err != nil:
			return 0
		case p.Rate == 0 && bits == p.BitsPerKey, p.Rate > 0 && f.Rate(maxBloomKeys) <= p.Rate:
			return bits
		}
	}
}

func (o *Option) describe(out *bytes.Buffer, why string) {
	fmt.Fprintf(out, "%s: %s, %s in %s of %s:\n  %s\n",
		why, o.filters(), size(o.MemoryBytes), text.Count(uint64(o.Tables), "table"), text.Count(uint64(o.KeysPerTable), "key"), o.Command)
}

// percent formats a rate with its unit.
func percent(rate float64) string { return figures.Percent(rate) + " %" }

// magnitude returns the power of ten of the first digit of a rate in percent.
func magnitude(rate float64) int { return int(math.Floor(math.Log10(100*rate) + 1e-9)) }

// exactPercent formats a rate with the digits that were given.
func exactPercent(rate float64) string {
	digits := strconv.FormatFloat(100*rate, 'e', 8, 64) // hides rounding errors of the multiplication
	v, _ := strconv.ParseFloat(digits, 64)
	return strconv.FormatFloat(v, 'f', -1, 64) + " %"
}

// size formats bytes with a unit of powers of 1000.
func size(bytes float64) string {
	value, prefix := humanize.ComputeSI(bytes)
	return strings.TrimSuffix(strconv.FormatFloat(value, 'f', 1, 64), ".0") + " " + prefix + "B"
}

// exact formats bytes with a unit of powers of 1024 and no space, as the value of a flag.
func exact(bytes uint64) string {
	for _, unit := range []string{"B", "KiB", "MiB"} {
		if bytes < 1024 || bytes%1024 != 0 {
			return strconv.FormatUint(bytes, 10) + unit
		}
		bytes /= 1024
	}
	return strconv.FormatUint(bytes, 10) + "GiB"
}

// count formats a number with a comma between groups of three digits.
func count(n float64) string { return humanize.CommafWithDigits(n, 0) }
