package plan

import "math"

// Costs are what the tables of an Option cost as a set in object storage: see package set. Hours are
// core-hours, of one processor. A price adds up what has a price in the Query. It is nil if nothing has.
type Costs struct {
	SortedHours   float64  `json:"sorted_core_hours"`   // of sst build --sorted
	UnsortedHours float64  `json:"unsorted_core_hours"` // of sst build, which sorts
	PutRequests   float64  `json:"put_requests"`        // to store the tables and the manifest
	BuildPrice    *float64 `json:"build_price,omitempty"`

	StoragePrice *float64 `json:"storage_price_per_month,omitempty"`
	SwapMemory   float64  `json:"swap_memory_bytes"` // while a set of other tables takes the place of this one

	OpenRequests float64  `json:"open_requests"` // to open all tables
	OpenBytes    float64  `json:"open_bytes"`
	OpenHours    float64  `json:"open_core_hours"`
	OpenPrice    *float64 `json:"open_price,omitempty"`

	LookupRequests float64  `json:"requests_per_billion_lookups"` // without a block cache
	LookupBytes    float64  `json:"bytes_per_billion_lookups"`
	LookupHours    float64  `json:"core_hours_per_billion_lookups"`
	LookupPrice    *float64 `json:"price_per_billion_lookups,omitempty"`
}

// Prices are in one currency, whichever that is. nil: not known.
type Prices struct {
	Request *float64 `json:"request_price,omitempty"` // of a million reads
	Put     *float64 `json:"put_price,omitempty"`     // of a million writes
	Core    *float64 `json:"core_price,omitempty"`    // of a core-hour
	Storage *float64 `json:"storage_price,omitempty"` // of 10⁹ bytes for a month
}

// billion is how many lookups Costs are for.
const billion = 1e9

// What each request costs the processor that asks, as measured with the client of table/cloud.
const (
	requestSeconds = 350e-6
	byteSeconds    = 1e-9   // of a block that is read, with checks
	openSeconds    = 2.5e-9 // of a byte that is read to open a table: its SHA-256 is computed too
	lookupSeconds  = 1e-6   // of a lookup in filters and index
)

// What is written to object storage by table/cloud in parts, and in requests of how many bytes.
const (
	largeObject = 16 << 20
	objectPart  = 8 << 20
)

const hour = 3600 // seconds

// countCosts sets the Costs of all Options.
func (p *Plan) countCosts() {
	for _, options := range [][]Option{p.WithData, p.LargerBlocks, p.FilterOnly} {
		for i := range options {
			options[i].Costs = p.costs(options[i])
		}
	}
	p.BeamHours = float64(p.Keys) * beamSeconds / hour
	p.BeamPrice = sum(price(p.Core, p.BeamHours))
}

// costs returns the Costs of an Option whose rate is measured. A table is opened by one request.
// Each lookup of a present key reads a data block by one, and each false positive does. A filter
// alone has no data blocks.
func (q Query) costs(o Option) Costs {
	c := Costs{OpenRequests: o.Tables, OpenBytes: o.DiskBytes - o.DataBytes, SwapMemory: 2 * o.MemoryBytes}
	if !o.FilterOnly {
		c.LookupRequests = billion * (q.Present + (1-q.Present)*o.countedRate())
		c.LookupBytes = c.LookupRequests * o.StoredBlock
	}
	c.OpenHours = (c.OpenRequests*requestSeconds + c.OpenBytes*openSeconds) / hour
	c.LookupHours = (billion*lookupSeconds + c.LookupRequests*requestSeconds + c.LookupBytes*byteSeconds) / hour
	c.OpenPrice = sum(q.readPrice(c.OpenRequests), price(q.Core, c.OpenHours))
	c.LookupPrice = sum(q.readPrice(c.LookupRequests), price(q.Core, c.LookupHours))
	q.countBuild(&c, o)
	return c
}

const pricedRequests = 1e6

func (q Query) readPrice(requests float64) *float64 { return price(q.Request, requests/pricedRequests) }

// countBuild sets what building and keeping the tables costs. Each is asked for before it is sent.
func (q Query) countBuild(c *Costs, o Option) {
	seconds := q.buildSeconds(o.Design)
	c.SortedHours = seconds / hour
	c.UnsortedHours = (seconds + q.sortSeconds()) / hour
	c.PutRequests = 1 + o.Tables*putsOf(o.DiskBytes/o.Tables)
	c.BuildPrice = sum(price(q.Core, c.UnsortedHours), price(q.Put, c.PutRequests/pricedRequests), q.readPrice(o.Tables))
	c.StoragePrice = sum(price(q.Storage, o.DiskBytes/1e9))
}

// putsOf returns how many requests send a table: one, or one for each part and two more.
func putsOf(bytes float64) float64 {
	if bytes <= largeObject {
		return 1
	}
	return 2 + math.Ceil(bytes/objectPart)
}

// countedRate is the rate that requests are counted by: the measured one, or its bound.
func (m Measurement) countedRate() float64 {
	if m.isBound() {
		return m.upper()
	}
	return m.MeasuredRate
}

// price returns the price of so many units. It is nil if that of one is.
func price(unit *float64, units float64) *float64 {
	if unit == nil {
		return nil
	}
	p := *unit * units
	return &p
}

// sum adds up the prices that are known. It is nil if none is.
func sum(prices ...*float64) *float64 {
	var total *float64
	for _, p := range prices {
		if p == nil {
			continue
		}
		if total == nil {
			total = new(float64)
		}
		*total += *p
	}
	return total
}
