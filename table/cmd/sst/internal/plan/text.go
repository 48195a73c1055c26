package plan

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dustin/go-humanize"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// WriteJSON writes the plan as a JSON object.
func (p Plan) WriteJSON(w io.Writer) error {
	return text.WriteJSON(w, p)
}

// WriteText writes the plan as a table and, if it misses the rate, advice below it.
func (p Plan) WriteText(w io.Writer) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, part := range [][][3]string{p.rateRows(), p.sizeRows(), p.tableRows()} {
		for _, r := range part {
			fmt.Fprintf(out, "%s\t%s\t%s\n", r[0], r[1], r[2])
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, p.advice())
	return err
}

func (p Plan) rateRows() [][3]string {
	why := "as given"
	if p.AskedRate > 0 {
		why = "the fewest for which the formula gives " + exactPercent(p.AskedRate)
	}
	return [][3]string{
		{"keys", count(float64(p.Keys)), fmt.Sprintf("of %s, with values of %s", size(float64(p.query.KeySize)), size(float64(p.query.ValueSize)))},
		{"bits per key", strconv.Itoa(p.BitsPerKey), why},
		{"k", strconv.Itoa(p.K), "bits that each key sets: 69 % of the bits per key, rounded down"},
		{"rate by the formula", percent(p.FormulaRate), "false positives per absent key, (1-e^(-kn/m))^k"},
		{"rate measured", p.measured(), fmt.Sprintf("in filters of %s random keys, the number in this plan", count(float64(p.KeysPerFilter)))},
		{"rate of one filter", percent(p.SingleRate), "if one filter with 32-bit hashes had all keys"},
	}
}

// measured formats the measured rate, or its upper bound.
func (p Plan) measured() string {
	if p.MeasuredRate == 0 {
		return "< " + percent(minMeasurableRate)
	}
	return percent(p.MeasuredRate)
}

func (p Plan) sizeRows() [][3]string {
	perKey := 8 * p.FilterBytes / float64(p.Keys)
	return [][3]string{
		{"filters", size(p.FilterBytes), fmt.Sprintf("%.1f bits per key with each filter's k and offsets", perKey)},
		{"index in memory", size(p.IndexMemory), fmt.Sprintf("up to %s and %d bytes for each data block", size(float64(p.query.KeySize)), indexEntryMemory)},
		{"memory", size(p.MemoryBytes), "filters and index of all tables, open; no cache"},
		{"data blocks", size(p.DataBytes), fmt.Sprintf("%s keys in each of %s; less if keys share prefixes", count(float64(p.KeysPerBlock)), size(p.BlockBytes))},
		{"disk", size(p.DiskBytes), fmt.Sprintf("data blocks at %s of their size, filters, index of %s",
			exactPercent(p.query.Compression), size(p.IndexBytes))},
	}
}

func (p Plan) tableRows() [][3]string {
	rows := [][3]string{
		{"tables", count(p.Tables), "of " + size(float64(p.query.TableSize)) + " on disk"},
		{"memory of a table", size(p.MemoryPerTable), "filters and index"},
	}
	if p.Machines == 0 {
		return rows
	}
	return append(rows, [3]string{"machines", count(p.Machines), fmt.Sprintf("with up to %s tables each, in %s of memory",
		count(p.TablesPerMachine), size(float64(p.query.Memory)))})
}

// advice says how to reach the rate, if the plan misses it.
func (p Plan) advice() string {
	if !p.Missed {
		return ""
	}
	advice := fmt.Sprintf("\nThis plan does not reach %s. Real filters have more false positives than the\n"+
		"formula says, above all small filters: the bits of a key come from one 32-bit hash\n"+
		"and often coincide.", exactPercent(p.AskedRate))
	if len(p.Remedies) == 0 {
		return advice + fmt.Sprintf("\nNeither twice the bits nor blocks of up to %s reach it.\n", exact(maxBlockSize))
	}
	advice += " These settings reach it:\n"
	for _, r := range p.Remedies {
		advice += r.describe()
	}
	return advice
}

func (r Remedy) describe() string {
	if r.Flag == "--bits" {
		return fmt.Sprintf("  --bits %d instead of -p: measured rate %s\n", r.Value, percent(r.Rate))
	}
	return fmt.Sprintf("  --block-size %s: measured rate %s, %s keys per filter, a smaller index, longer reads\n",
		exact(r.Value), percent(r.Rate), count(float64(r.KeysPerFilter)))
}

// percent formats a rate with two significant digits and no exponent.
func percent(rate float64) string {
	v := 100 * rate
	if v == 0 {
		return "0 %"
	}
	decimals := max(0, 1-int(math.Floor(math.Log10(v)+1e-9)))
	return strconv.FormatFloat(v, 'f', decimals, 64) + " %"
}

// exactPercent formats a rate as it was given.
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
	units := []string{"B", "KiB", "MiB", "GiB"}
	i := 0
	for i < len(units)-1 && bytes >= 1024 && bytes%1024 == 0 {
		bytes /= 1024
		i++
	}
	return strconv.FormatUint(bytes, 10) + units[i]
}

// count formats a number with a comma between groups of three digits.
func count(n float64) string { return humanize.CommafWithDigits(n, 0) }
