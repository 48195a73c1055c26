package plan

import (
	"math"

	"github.com/sievetable/sievetable/table/cmd/internal/tablefilter"
)

// An Option is a Design with the sizes of its tables and the rates of its filters. Sizes are in bytes. Rates are
// false positives per absent key, 0 to 1.
type Option struct {
	Design

	BitsPerKey  float64 `json:"bits_per_key"` // of the filters, including their overhead
	FilterBytes float64 `json:"filter_bytes"` // on disk and in memory
	IndexMemory float64 `json:"index_memory_bytes"`
	MemoryBytes float64 `json:"memory_bytes"` // of filters, index, and the overhead of open tables
	DataBytes   float64 `json:"data_bytes"`
	IndexBytes  float64 `json:"index_bytes"`
	DiskBytes   float64 `json:"disk_bytes"`

	KeysPerBlock   int     `json:"keys_per_block,omitempty"`
	KeysPerFilter  int     `json:"keys_per_block_filter,omitempty"`
	KeysPerTable   float64 `json:"keys_per_table"`
	Tables         float64 `json:"tables"`
	MemoryPerTable float64 `json:"memory_per_table_bytes"`

	Measurement
	PredictedRate float64 `json:"predicted_rate"`

	// Chosen says that the Design has the number of bits that the Query requests: the given number, or the
	// smallest that reaches the rate.
	Chosen bool `json:"chosen"`

	// MeetsRate and MeetsMemory are also true if the Query sets no goal.
	MeetsRate   bool `json:"meets_rate"`
	MeetsMemory bool `json:"meets_memory"`

	TablesPerMachine float64 `json:"tables_per_machine,omitempty"`
	Machines         float64 `json:"machines,omitempty"` // 0 if a table does not fit into the memory of a machine

	Command string `json:"command"`
}

// meets reports whether the Option meets all goals.
func (o Option) meets() bool { return o.MeetsRate && o.MeetsMemory }

// isOneBlock reports whether a table has a single data block, so that larger blocks would not change it.
func (o Option) isOneBlock() bool { return float64(o.KeysPerBlock) >= o.KeysPerTable }

// filterOnlyOverhead is the approximate size of the rest of a filter-only table: properties, metaindex, an empty
// index and footer.
const filterOnlyOverhead = 500

// usualEntries is the default for the maximum number of entries per table. It equals the default of sst build for
// sets.
const usualEntries = 1_000_000

// option computes an Option without its rates.
func (q Query) option(d Design) Option {
	o, n := Option{Design: d}, float64(q.Keys)
	if d.FilterOnly {
		const many = maxBloomKeys // enough for the bits per key to be those of large filters
		q.divide(&o, o.table.bytes(many)/many)
		o.FilterBytes = o.table.totalBytes(n, o.KeysPerTable)
		o.DiskBytes = o.FilterBytes + o.Tables*filterOnlyOverhead
	} else {
		q.BlockSize = d.BlockSize
		q.sizeData(&o)
		o.DiskBytes = o.DataBytes + o.FilterBytes + o.IndexBytes
	}
	o.BitsPerKey = 8 * o.FilterBytes / n
	o.MemoryBytes = o.FilterBytes + o.IndexMemory + o.Tables*tableMemory
	o.MemoryPerTable = math.Ceil(o.MemoryBytes / o.Tables)
	q.countMachines(&o)
	o.Command = q.command(d, o.Tables, o.KeysPerTable)
	return o
}

// sizeData computes the sizes of tables with keys and values.
func (q Query) sizeData(o *Option) {
	l, n := q.layOut(), float64(q.Keys)
	o.KeysPerBlock = int(l.keysPerBlock)
	o.DataBytes = l.data()
	if o.BlockBits > 0 {
		o.KeysPerFilter = int(l.keysPerFilter)
		o.FilterBytes = l.filterBytes(o.BlockBits)
	}
	tableFilters := o.table.totalBytes(n, min(n, maxBloomKeys))    // about
	index := l.blocks * q.indexEntryBytes(l, float64(q.TableSize)) // about
	q.divide(o, (o.DataBytes+index+o.FilterBytes+tableFilters)/n)
	q.sizeIndex(o, l)
	o.FilterBytes += o.table.totalBytes(n, o.KeysPerTable)
	o.KeysPerFilter = min(o.KeysPerFilter, int(o.KeysPerTable))
}

// divide divides the keys into tables of at least one key, like sst build.
func (q Query) divide(o *Option, bytesPerKey float64) {
	n, most := float64(q.Keys), uint64(usualEntries)
	if o.FilterOnly {
		most = tablefilter.MaxEntries
	}
	if q.EntriesPerTable > 0 {
		most = min(q.EntriesPerTable, tablefilter.MaxEntries)
	}
	o.KeysPerTable = min(n, float64(most), o.table.maxKeys(), max(1, math.Floor(float64(q.TableSize)/bytesPerKey)))
	o.Tables = math.Ceil(n / o.KeysPerTable)
}

// countMachines divides the tables among machines.
func (q Query) countMachines(o *Option) {
	if q.Memory == 0 {
		o.MeetsMemory = true
		return
	}
	o.TablesPerMachine = math.Floor(float64(q.Memory) / o.MemoryPerTable)
	if o.TablesPerMachine > 0 {
		o.Machines = math.Ceil(o.Tables / o.TablesPerMachine)
	}
	o.MeetsMemory = o.Machines == 1
}
