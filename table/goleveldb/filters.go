package goleveldb

import (
	"reflect"
	"slices"
	"strings"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// filterKey returns the FilterKey of a table in the order of c: the part of a key that the filters
// in the options hold.
func filterKey(o *opt.Options, c table.Comparer) func(key []byte) []byte {
	internal := false
	for _, f := range filtersOf(o) {
		_, internal = userFilter(f)
	}
	_, has := c.(table.FilterKeyer)
	switch {
	case internal && !has:
		return table.InternalFilterKey
	case !internal && has:
		return func(key []byte) []byte { return key }
	}
	return nil
}

// filtersOf returns the filters in the options, that for writing first.
func filtersOf(o *opt.Options) []lfilter.Filter {
	all := append([]lfilter.Filter{o.GetFilter()}, o.GetAltFilters()...)
	return slices.DeleteFunc(all, func(f lfilter.Filter) bool { return f == nil })
}

// userFilter returns the filter of user keys that goleveldb's engine has wrapped, and true, or f
// itself and false. What the engine wraps with is a pointer to a struct iFilter whose only field,
// Filter, is the filter.
func userFilter(f lfilter.Filter) (user lfilter.Filter, internal bool) {
	v := reflect.ValueOf(f)
	if v.Kind() == reflect.Pointer && !v.IsNil() {
		v = v.Elem()
	}
	if v.Kind() != reflect.Struct || v.Type().Name() != "iFilter" || v.NumField() != 1 || v.Type().Field(0).Name != "Filter" {
		return f, false
	}
	user, internal = v.Field(0).Interface().(lfilter.Filter)
	if !internal {
		return f, false
	}
	return user, true
}

// maxSameBits is the highest number of bits per key for which goleveldb's Bloom filters are those
// of package filter.
const maxSameBits = 371

// policyOf returns the policy that reads and builds the filters of f.
func policyOf(f lfilter.Filter) filter.Policy {
	f, _ = userFilter(f)
	if reflect.TypeOf(f) == reflect.TypeOf(lfilter.NewBloomFilter(1)) {
		if bits := reflect.ValueOf(f).Int(); bits >= 0 && bits <= maxSameBits {
			return filter.NewBloom(int(bits))
		}
	}
	return filter.From(f)
}

// writingPolicy returns the policy of a Writer, which lists its filters under goleveldb's name
// only. It is nil if the options have no filter.
func writingPolicy(o *opt.Options) filter.Policy {
	f := o.GetFilter()
	if f == nil {
		return nil
	}
	p := policyOf(f)
	return filter.Rename(p, p.Name())
}

// readingPolicies returns the policies of a Reader.
func readingPolicies(o *opt.Options) (policies []filter.Policy) {
	for _, f := range filtersOf(o) {
		policies = append(policies, policyOf(f))
	}
	return policies
}

// known reports whether a Reader checks no filters but those of the policies. It can also have
// found one that it knows by itself.
func known(filters table.LayoutFilters, policies []filter.Policy) bool {
	if filters.Table != nil {
		return false
	}
	return filters.Blocks == nil || slices.ContainsFunc(policies, func(p filter.Policy) bool {
		names := []string{p.Name()}
		if a, ok := p.(filter.Aliaser); ok {
			names = append(names, a.Aliases()...)
		}
		return slices.Contains(names, strings.TrimPrefix(filters.BlocksEntry.Name, "filter."))
	})
}
