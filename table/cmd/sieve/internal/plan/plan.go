package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/bloom"
)

// A Plan compares the filters that tables for the Query can have.
type Plan struct {
	Query

	WithData     []Option `json:"with_data"`                         // tables of keys and values, with blocks of the given size
	LargerBlocks []Option `json:"with_data_larger_blocks,omitempty"` // the same with larger blocks, where these are better
	FilterOnly   []Option `json:"filter_only"`                       // tables of filters without keys and values

	SampleKeys     int    `json:"sample_keys,omitempty"`      // number of keys in the sample
	SampleListKeys uint64 `json:"sample_list_keys,omitempty"` // number of distinct keys in its list; an estimate

	// These describe LevelDB's filters by the classical formula.
	FormulaBits  int     `json:"formula_bits_per_key"`
	FormulaK     int     `json:"formula_k"` // bits that each key sets
	FormulaRate  float64 `json:"formula_rate"`
	FormulaBytes uint64  `json:"formula_bytes"`

	// Best is the best Option for the Query, and BestWithData the best one with data. They are nil if no Option
	// reaches the rate.
	Best         *Option `json:"best,omitempty"`
	BestWithData *Option `json:"best_with_data,omitempty"`
}

// New makes a Plan, and measures the rates of its filters. It calls done after each of Kinds measurements. done
// must be safe for concurrent use.
func New(q Query, done func()) (*Plan, error) {
	if s := q.Sample; s != nil {
		n := float64(len(s.pairs))
		q.KeySize, q.ValueSize = uint64(math.Round(float64(s.keyBytes)/n)), uint64(math.Ceil(float64(s.bytes-s.keyBytes)/n))
	}
	if err := q.Validate(); err != nil {
		return nil, err
	}
	m, k := q.formulaBits(), filter.NewBloom(q.formulaBits()).K()
	p := &Plan{Query: q, FormulaBits: m, FormulaK: k, FormulaRate: bloom.Rate(float64(m), k), FormulaBytes: q.formulaBytes(m)}
	if err := p.compare(done); err != nil {
		return nil, err
	}
	if s := q.Sample; s != nil {
		p.SampleKeys, p.SampleListKeys = len(s.pairs), s.Keys
		if s.layoutErr != nil {
			return nil, s.layoutErr
		}
	}
	withData := slices.Concat(p.WithData, p.LargerBlocks)
	all := slices.Concat(withData, p.FilterOnly)
	p.Best, p.BestWithData = q.best(all), q.best(withData)
	least := slices.MinFunc(all, func(a, b Option) int { return cmp.Compare(a.MemoryPerTable, b.MemoryPerTable) }).MemoryPerTable
	if q.Memory > 0 && float64(q.Memory) < least { // not even one table fits into the memory
		return nil, fmt.Errorf("--memory is %s, less than the %s of one table's filters and index: raise it, or lower --table-size", size(float64(q.Memory)), size(least))
	}
	return p, nil
}

// Kinds is the number of kinds of filters that New measures.
const Kinds = 10

// compare finds all Options, in parallel.
func (p *Plan) compare(done func()) error {
	const withData = 3 // number of finders for tables with data
	finders := []finder{findBloom, findTableBloom, findBoth, func(q Query) (Option, error) {
		q.BlockSize = 0
		return findTableBloom(q)
	}}
	for _, bits := range fuseSizes {
		finders = append(finders, func(q Query) (Option, error) { return q.measured(newDesign(0, tableFilter{fuseBits: bits}, 0)) })
	}
	options, larger := make([]Option, len(finders)), make([]*Option, len(finders))
	var running errgroup.Group
	for i, find := range finders {
		running.Go(func() (err error) {
			defer done()
			options[i], larger[i], err = p.findWithLarger(find)
			return err
		})
	}
	if err := running.Wait(); err != nil {
		return err
	}
	p.WithData, p.FilterOnly = options[:withData:withData], options[withData:]
	fuse, largerFuse, err := p.findWithLarger(p.findChosenFuse)
	p.WithData = append(p.WithData, fuse)
	for _, l := range append(larger, largerFuse) {
		if l != nil {
			p.LargerBlocks = append(p.LargerBlocks, *l)
		}
	}
	return err
}

// findChosenFuse finds the chosen binary fuse filter in tables with data, or the smallest if none is chosen. It
// does not measure the rate again, since that does not depend on the number of keys.
func (p *Plan) findChosenFuse(q Query) (Option, error) {
	bits := max(fuseSizes[0], q.chosenFuse())
	measured := p.FilterOnly[slices.IndexFunc(p.FilterOnly, func(o Option) bool { return o.table.fuseBits == bits })]
	o := q.option(newDesign(0, measured.table, q.BlockSize))
	o.Measurement, o.PredictedRate, o.MeetsRate, o.Chosen = measured.Measurement, measured.PredictedRate, measured.MeetsRate, measured.Chosen
	return o, nil
}

// best returns the best Option for the Query: of the Options that meet it, the one with the least memory or, if
// the Query specifies a number of bits, with the lowest rate. If none fits into the memory, it is the best of
// those that reach the rate. If none does, best returns nil.
func (q Query) best(options []Option) *Option {
	options = slices.DeleteFunc(slices.Clone(options), func(o Option) bool { return !o.Chosen || !o.MeetsRate })
	if len(options) == 0 {
		return nil
	}
	costs := func(o Option) []float64 {
		beyondMemory, rate := 0.0, 0.0
		if !o.MeetsMemory {
			beyondMemory = 1
		}
		if q.Rate == 0 {
			rate = o.upper()
		}
		return []float64{beyondMemory, rate, o.MemoryBytes}
	}
	best := slices.MinFunc(options, func(a, b Option) int { return slices.Compare(costs(a), costs(b)) })
	return &best
}
