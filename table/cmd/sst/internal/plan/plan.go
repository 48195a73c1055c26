package plan

import (
	"fmt"
	"math"

	"github.com/sievetable/sievetable/filter"
)

// A Plan is the result of a Query. Sizes are in bytes. Rates are false positives per absent
// key.
type Plan struct {
	Keys       uint64  `json:"keys"`
	AskedRate  float64 `json:"asked_rate,omitempty"`
	BitsPerKey int     `json:"bits_per_key"`
	K          int     `json:"k"`

	FormulaRate   float64 `json:"formula_rate"`
	MeasuredRate  float64 `json:"measured_rate"`
	Questions     int     `json:"measured_questions"`
	KeysPerFilter int     `json:"keys_per_filter"`
	SingleRate    float64 `json:"single_filter_rate"` // rate of one filter for all keys

	// Missed says that the measured rate is higher than AskedRate, or that AskedRate is too
	// low to be measured. Remedies are other flags that reach it.
	Missed   bool     `json:"missed"`
	Remedies []Remedy `json:"remedies,omitempty"`

	KeysPerBlock int     `json:"keys_per_block"`
	BlockBytes   float64 `json:"stored_block_bytes"`
	DataBytes    float64 `json:"data_bytes"`
	FilterBytes  float64 `json:"filter_bytes"` // on disk and in memory
	IndexBytes   float64 `json:"index_bytes"`
	DiskBytes    float64 `json:"disk_bytes"`
	IndexMemory  float64 `json:"index_memory_bytes"`
	MemoryBytes  float64 `json:"memory_bytes"` // memory of filters and index

	Tables           float64 `json:"tables"`
	MemoryPerTable   float64 `json:"memory_per_table_bytes"`
	TablesPerMachine float64 `json:"tables_per_machine,omitempty"`
	Machines         float64 `json:"machines,omitempty"`

	query Query
}

// New computes the plan, and measures the rate of its filters.
func New(q Query) (Plan, error) {
	p, err := computePlan(q)
	if err != nil {
		return Plan{}, err
	}
	p.Questions = measuredLookups
	p.MeasuredRate = measure(p.KeysPerFilter, p.BitsPerKey)
	if p.Missed = max(p.MeasuredRate, minMeasurableRate) > q.Rate && q.Rate > 0; p.Missed {
		p.Remedies = q.remedies(p.BitsPerKey)
	}
	return p, nil
}

// computePlan computes the plan without measurements.
func computePlan(q Query) (Plan, error) {
	if err := q.Validate(); err != nil {
		return Plan{}, err
	}
	s, err := q.sizing()
	if err != nil {
		return Plan{}, err
	}
	l := q.layOut()
	p := Plan{
		Keys: q.Keys, AskedRate: q.Rate, BitsPerKey: s.BitsPerKey, K: s.K,
		FormulaRate: s.Rate, SingleRate: s.SingleRate,
		KeysPerFilter: int(l.keysPerFilter), KeysPerBlock: int(l.keysPerBlock),
		query: q,
	}
	p.addSizes(l)
	return p, p.addTables()
}

func (q Query) sizing() (filter.Sizing, error) {
	if q.Rate > 0 {
		return filter.SizeForRate(q.Keys, q.Rate)
	}
	return filter.SizeForBits(q.Keys, q.BitsPerKey)
}

func (p *Plan) addSizes(l tableLayout) {
	p.BlockBytes = l.blockBytes
	p.DataBytes = l.data()
	p.FilterBytes = l.filterBytes(p.BitsPerKey)
	p.IndexBytes = l.indexBytes(p.query.KeySize, indexEntryDisk)
	p.DiskBytes = p.DataBytes + p.FilterBytes + p.IndexBytes
	p.IndexMemory = l.indexBytes(p.query.KeySize, indexEntryMemory)
	p.MemoryBytes = p.FilterBytes + p.IndexMemory
}

// addTables divides the keys into tables of at least one key, and the tables among
// machines.
func (p *Plan) addTables() error {
	n := float64(p.Keys)
	keys := max(1, math.Floor(float64(p.query.TableSize)/(p.DiskBytes/n)))
	p.Tables = math.Ceil(n / keys)
	p.MemoryPerTable = math.Ceil(p.MemoryBytes / p.Tables)
	if p.query.Memory == 0 {
		return nil
	}
	p.TablesPerMachine = math.Floor(float64(p.query.Memory) / p.MemoryPerTable)
	if p.TablesPerMachine == 0 {
		return fmt.Errorf("--memory is %s, want at least the %s of one table's filters and index",
			size(float64(p.query.Memory)), size(p.MemoryPerTable))
	}
	p.Machines = math.Ceil(p.Tables / p.TablesPerMachine)
	return nil
}
