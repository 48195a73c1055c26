package source

import (
	"bytes"
	"fmt"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
)

// noteUnknownOrder adds a note if the order of a directory is unknown.
func (s *Source) noteUnknownOrder() {
	lost := slices.ContainsFunc(s.Tables, func(t *Table) bool { return t.orderUnknown })
	switch {
	case s.Order == table.AnyOrder:
		s.Notes = append(s.Notes, fmt.Sprintf("%s: keys are in the order of %s, which sst does not know: tables are scanned one after the other", s.Path, wire.Quote([]byte(s.o.Order.Manifest))))
	case s.o.Order.Comparer == nil && lost:
		s.Order = table.AnyOrder
		s.Notes = append(s.Notes, fmt.Sprintf("%s: the order of keys is unknown: tables are scanned one after the other", s.Path))
	}
}

// scanTableByTable yields all entries if the order is unknown: those of the logs as they
// were written, and then those of one table after the other.
func (s *Source) scanTableByTable(o ScanOptions) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := s.checkScanWithoutOrder(o); err != nil {
			yield(Entry{}, err)
			return
		}
		parts := []iter.Seq2[Entry, error]{s.scanLogsInOrder(o)}
		for _, t := range s.Tables {
			one := *s
			one.Tables, one.runs, one.logs = []*Table{t}, nil, logs{}
			parts = append(parts, one.scanMerged(o))
		}
		if o.Reverse {
			slices.Reverse(parts)
		}
		for _, part := range parts {
			for e, err := range part {
				if !yield(e, err) || err != nil {
					return
				}
			}
		}
	}
}

// checkScanWithoutOrder returns an error for options that need the order of keys.
func (s *Source) checkScanWithoutOrder(o ScanOptions) error {
	what := ""
	switch {
	case o.From != nil || o.To != nil:
		what = "--from and --to cannot be applied"
	case o.Reverse && len(s.logs.paths) > 0:
		what = "--reverse cannot be applied to a log"
	case !o.Versions && s.Internal && len(s.Tables)+len(s.logs.paths) > 1:
		what = "the newest value of a key cannot be found"
	default:
		return nil
	}
	return fmt.Errorf("%s: the order of keys is unknown, so %s: %s", s.Path, what, comparers.Advice())
}

// SameOrder returns an error if the entries of two sources cannot be compared side by side.
func (s *Source) SameOrder(o *Source) error {
	for _, x := range []*Source{s, o} {
		if x.Order == table.AnyOrder {
			return fmt.Errorf("%s: the order of keys is unknown: %s", x.Path, comparers.Advice())
		}
	}
	if s.Order != o.Order {
		return fmt.Errorf("%s is in the order of %s, but %s is in the order of %s: use --comparator for both",
			s.Path, s.Order.Name(), o.Path, o.Order.Name())
	}
	return nil
}

// SameKey reports whether two user keys are equal.
func (s *Source) SameKey(a, b []byte) bool {
	if s.Order == table.AnyOrder || s.Order == table.BytewiseComparer {
		return bytes.Equal(a, b)
	}
	return s.Order.Compare(a, b) == 0
}
