package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/sievetable/sievetable/bench/peers/internal/machine"
	"github.com/sievetable/sievetable/bench/peers/internal/measure"
)

// DataFile is the name of the file of what was measured.
const DataFile = "results.json"

// A Report is what was measured, how, and where.
type Report struct {
	Command    string      `json:"command"`
	Rounds     int         `json:"rounds"`
	Time       string      `json:"time"` // of a measurement, such as "200ms"
	Entries    int         `json:"entries"`
	Machine    [][2]string `json:"machine"` // names and values
	Engines    Results     `json:"engines"`
	Membership Results     `json:"membership"`
}

// Results are the rows that all columns were measured at.
type Results struct {
	Columns []Column      `json:"columns"` // the first one is ours
	Rows    []measure.Row `json:"rows"`
}

// A Column is an engine that was measured, or the reason why it was not.
type Column struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Missing string `json:"missing,omitempty"`
}

// New returns a Report without rows of what is measured on this machine.
func New(command string, o measure.Options, engines, forms []measure.Column) *Report {
	return &Report{
		Command: command, Rounds: o.Rounds, Time: o.Time.String(), Entries: o.Entries, Machine: machine.Describe(),
		Engines: Results{Columns: columns(engines)}, Membership: Results{Columns: columns(forms)},
	}
}

func columns(measured []measure.Column) []Column {
	var all []Column
	for _, m := range measured {
		c := Column{Name: m.Name}
		if m.Err != nil {
			c.Missing = m.Err.Error()
		} else if m.Engine != nil {
			c.Version = m.Engine.Info().Version
		}
		all = append(all, c)
	}
	return all
}

// numbers are a list of numbers that encoding/json has given a line each.
var numbers = regexp.MustCompile(`\[\n[^\]"{]*\]`)

// Save writes the report to DataFile in the directory, which is there. Figures are rounded to
// six digits.
func (r *Report) Save(dir string) error {
	r.Engines.round()
	r.Membership.round()
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return fmt.Errorf("writing %s: %w", DataFile, err)
	}
	text = numbers.ReplaceAllFunc(text, func(list []byte) []byte {
		return bytes.ReplaceAll(bytes.Join(bytes.Fields(list), nil), []byte(","), []byte(", "))
	})
	return os.WriteFile(filepath.Join(dir, DataFile), append(text, '\n'), 0o666)
}

func (r *Results) round() {
	for _, row := range r.Rows {
		for _, c := range row.Cells {
			for _, list := range [][]float64{c.Values, c.Allocs} {
				for i, v := range list {
					// What FormatFloat writes is a number.
					list[i], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', 6, 64), 64)
				}
			}
		}
	}
}

// load reads what Save wrote.
func load(dir string) (*Report, error) {
	name := filepath.Join(dir, DataFile)
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	var r Report
	if err := d.Decode(&r); err != nil {
		return nil, fmt.Errorf("%s: %w; measure again to replace it", name, err)
	}
	if d.More() || len(r.Engines.Rows)+len(r.Membership.Rows) == 0 {
		return nil, fmt.Errorf("%s: no rows, or something behind them; measure again to replace it", name)
	}
	for _, results := range []*Results{&r.Engines, &r.Membership} {
		if err := results.check(); err != nil {
			return nil, fmt.Errorf("%s: %w; measure again to replace it", name, err)
		}
	}
	return &r, nil
}

// Figures between these can be drawn, on logarithmic axes too.
const least, most = 1e-9, 1e15

func plausible(v float64) bool { return least <= v && v <= most }

// check refuses what tables and charts cannot be made of.
func (r *Results) check() error {
	for _, row := range r.Rows {
		if len(row.Cells) != len(r.Columns) || len(row.Cells) == 0 {
			return fmt.Errorf("row %s has %d cells, want one for each of %d columns", row.ID, len(row.Cells), len(r.Columns))
		}
		if row.X != 0 && !plausible(row.X) {
			return fmt.Errorf("row %s is at %v, want %v to %v", row.ID, row.X, least, most)
		}
		for i, c := range row.Cells {
			for _, v := range c.Values {
				if !plausible(v) && (v != 0 || row.Unit == measure.Nanoseconds) {
					return fmt.Errorf("row %s, %s: %v %s, want %v to %v", row.ID, r.Columns[i].Name, v, row.Unit, least, most)
				}
			}
		}
	}
	return nil
}
