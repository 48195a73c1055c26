package plan

// Requests are what the tables of an Option ask of a store of objects when they are a set there:
// see package set. A table is opened by one request, and a data block is read by one. Prices
// are nil if the Query has none.
type Requests struct {
	OpenRequests   float64  `json:"open_requests"` // to open all tables
	OpenPrice      *float64 `json:"open_price,omitempty"`
	LookupRequests float64  `json:"requests_per_billion_lookups"` // without a block cache
	LookupPrice    *float64 `json:"price_per_billion_lookups,omitempty"`
}

// billion is how many lookups LookupRequests are for.
const billion = 1e9

// countRequests sets the Requests of all Options.
func (p *Plan) countRequests() {
	for _, options := range [][]Option{p.WithData, p.LargerBlocks, p.FilterOnly} {
		for i := range options {
			options[i].Requests = p.requests(options[i])
		}
	}
}

// requests returns the Requests of an Option whose rate is measured. Each lookup of a present
// key reads a data block, and each false positive does. A filter alone has no data blocks.
func (q Query) requests(o Option) Requests {
	r := Requests{OpenRequests: o.Tables}
	if !o.FilterOnly {
		r.LookupRequests = billion * (q.Present + (1-q.Present)*o.countedRate())
	}
	const priced = 1e6 // requests
	r.OpenPrice = price(q.RequestPrice, r.OpenRequests/priced)
	r.LookupPrice = price(q.RequestPrice, r.LookupRequests/priced)
	return r
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

// Core-seconds that a million keys take, as they were measured with URLs of 64 bytes without
// values on 2 cores of an x86-64 server: user and system time.
const (
	// sst build --sorted takes 0.52 s with filters by blocks, 0.55 s with TableBloom filters, 0.58 s
	// with both and 0.65 s with fuse filters. Filters alone take 0.26 s and 0.40 s.
	sortedSeconds = 0.6

	// The pipeline of table/beam takes that on Beam's local runner, with filters by blocks. A
	// third of it is the polling of that runner.
	unsortedSeconds = 3.7
)

// A BuildCost is what it takes to write tables of keys with any filters. Prices are nil if the
// Query has none.
type BuildCost struct {
	SortedHours   float64  `json:"sorted_core_hours"` // by sst build --sorted
	SortedPrice   *float64 `json:"sorted_price,omitempty"`
	UnsortedHours float64  `json:"unsorted_core_hours"` // by the pipeline of table/beam
	UnsortedPrice *float64 `json:"unsorted_price,omitempty"`
}

func (q Query) buildCost() BuildCost {
	const hour = 3600
	millions := float64(q.Keys) / 1e6
	b := BuildCost{SortedHours: millions * sortedSeconds / hour, UnsortedHours: millions * unsortedSeconds / hour}
	b.SortedPrice, b.UnsortedPrice = price(q.CorePrice, b.SortedHours), price(q.CorePrice, b.UnsortedHours)
	return b
}
