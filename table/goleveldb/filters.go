package goleveldb

import (
	"reflect"
	"slices"
	"strings"

	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/layout"
)

// filterKey returns the FilterKey for a table in that order: the part of a key that the policies for the options'
// filters receive. Nil means the comparer's FilterKey, or else the whole key.
func filterKey(o *opt.Options, order order) func(key []byte) []byte {
	users := slices.ContainsFunc(filtersOf(o), func(f lfilter.Filter) bool {
		_, internal := userFilter(f)
		return internal || order.internal && ignoresTrailers(f)
	})
	_, has := order.comparer.(interface{ FilterKey(key []byte) []byte })
	switch {
	case users && !has:
		return internalkey.UserKey
	case !users && has:
		return func(key []byte) []byte { return key }
	}
	return nil
}

// filtersOf returns the filters in the options, the one for writing first.
func filtersOf(o *opt.Options) []lfilter.Filter {
	all := append([]lfilter.Filter{o.GetFilter()}, o.GetAltFilters()...)
	return slices.DeleteFunc(all, func(f lfilter.Filter) bool { return f == nil })
}

// filterBaseLg returns the FilterBaseLg of the options. In old versions of goleveldb, options have none and mean the
// default, which is 0 here.
func filterBaseLg(o *opt.Options) int {
	if o, ok := any(o).(interface{ GetFilterBaseLg() int }); ok {
		return o.GetFilterBaseLg()
	}
	return 0
}

// maxSameBits is the largest number of bits per key for which goleveldb's Bloom filters equal package filter's.
const maxSameBits = 371

// policyOf returns the policy for the filters of f, in a table in that order.
func policyOf(f lfilter.Filter, order order) filter.Policy {
	f, internal := userFilter(f)
	if !internal && order.internal && ignoresTrailers(f) {
		return filter.From(extendingFilter{f})
	}
	if reflect.TypeOf(f) == reflect.TypeOf(lfilter.NewBloomFilter(1)) {
		if bits := reflect.ValueOf(f).Int(); bits >= 0 && bits <= maxSameBits {
			return filter.NewBloom(int(bits))
		}
	}
	return filter.From(f)
}

// writingPolicy returns a Writer's policy, or nil if the options have no filter. It lists filters under goleveldb's
// name only.
func writingPolicy(o *opt.Options, order order) filter.Policy {
	f := o.GetFilter()
	if f == nil {
		return nil
	}
	p := policyOf(f, order)
	return filter.Rename(p, p.Name())
}

// readingPolicies returns the policies of a Reader.
func readingPolicies(o *opt.Options, order order) (policies []filter.Policy) {
	for _, f := range filtersOf(o) {
		policies = append(policies, policyOf(f, order))
	}
	return policies
}

// known reports whether a Reader checks only filters of the policies. It may also have found a filter that it
// supports by default.
func known(filters layout.Filters, policies []filter.Policy) bool {
	if filters.Table != nil {
		return false
	}
	return filters.Blocks == nil || slices.ContainsFunc(policies, func(p filter.Policy) bool {
		names := []string{p.Name()}
		if a, ok := p.(interface{ Aliases() []string }); ok {
			names = append(names, a.Aliases()...)
		}
		return slices.Contains(names, strings.TrimPrefix(filters.BlocksEntry.Name, "filter."))
	})
}
