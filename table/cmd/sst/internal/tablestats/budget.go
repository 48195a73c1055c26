package tablestats

const (
	maxLookups    = 300_000 // in a filter
	leastLookups  = 1_000   // in a filter of one of very many tables
	lookupsPerKey = 10

	// A filter of few keys takes as many lookups as tell its rate to about a tenth, within these bounds.
	wantedHits    = 100
	minLookups    = 10_000
	maxMinLookups = 30_000

	// sharedLookups take one or two seconds, in all filters of a kind together.
	sharedLookups = 30_000_000

	// maxPredictions bounds how many rates are predicted, as each takes 5 to 160 ms.
	maxPredictions   = 100
	exactPredictions = maxPredictions / 2
)

// A Budget bounds the work for the statistics of several tables, beyond reading them.
type Budget struct {
	lookups int               // at most so many in each filter
	exact   map[shape]float64 // the predictions that were made
	ratios  map[shape]float64 // the last one of each kind
}

// NewBudget returns the Budget for so many tables.
func NewBudget(tables int) *Budget {
	share := sharedLookups / max(1, tables)
	return &Budget{lookups: min(maxLookups, max(leastLookups, share)), exact: map[shape]float64{}, ratios: map[shape]float64{}}
}

// lookupsFor returns how many random keys to look up in a filter of that many keys, whose rate is predicted.
func (b *Budget) lookupsFor(keys int, predicted float64) int {
	wanted := maxMinLookups
	if predicted > 0 {
		wanted = int(min(max(minLookups, wantedHits/predicted), maxMinLookups))
	}
	wanted = max(wanted, lookupsPerKey*min(max(0, keys), maxLookups/lookupsPerKey))
	return min(wanted, b.lookups)
}

// ratio returns the ratio of filters of this shape. As long as few predictions were made, that is exact. Then
// it is the ratio of another shape of the kind, so that many tables take no more predictions than one.
// Once there were maxPredictions, the ratio of other kinds is 1.
func (b *Budget) ratio(s, kind shape) float64 {
	if ratio, known := b.exact[s]; known {
		return ratio
	}
	alike, known := b.ratios[kind]
	switch made := len(b.exact); {
	case known && made >= exactPredictions:
		return alike
	case made >= maxPredictions:
		return 1
	}
	ratio := s.ratio()
	b.exact[s], b.ratios[kind] = ratio, ratio
	return ratio
}
