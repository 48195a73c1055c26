package source

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
)

// A span is a range of keys as numbers, with both bounds included. 2k is the key k, and odd numbers lie between
// keys.
type span struct{ from, to int }

func (s span) isEmpty() bool { return s.from > s.to }

// rangeOf returns the KeyRange of a span.
func (s span) rangeOf() (r KeyRange) {
	if s.from > math.MinInt {
		r.From, r.AfterFrom = []byte{byte(s.from >> 1)}, s.from&1 == 1
	}
	if s.to < math.MaxInt {
		r.To, r.BeforeTo = []byte{byte((s.to + 1) >> 1)}, s.to&1 == 1
	}
	return r
}

// spanOf returns the span of a KeyRange.
func spanOf(r KeyRange) span {
	s := span{math.MinInt, math.MaxInt}
	if r.From != nil {
		s.from = 2 * int(r.From[0])
		if r.AfterFrom {
			s.from++
		}
	}
	if r.To != nil {
		s.to = 2 * int(r.To[0])
		if r.BeforeTo {
			s.to--
		}
	}
	return s
}

// randomSpan returns a random span that is not empty, sometimes without a bound.
func randomSpan(rng *rand.Rand) span {
	for {
		s := span{2 + rng.IntN(12), 2 + rng.IntN(12)}
		if rng.IntN(5) == 0 {
			s.from = math.MinInt
		}
		if rng.IntN(5) == 0 {
			s.to = math.MaxInt
		}
		if !s.isEmpty() {
			return s
		}
	}
}

// KeyRanges behave like spans of numbers: they overlap, end before a key, and have the same hulls and
// intersections.
func TestKeyRangesAreSpans(t *testing.T) {
	t.Parallel()
	order := table.BytewiseComparer
	rng := rand.New(rand.NewPCG(1, 95))
	for range 50_000 {
		a, b := randomSpan(rng), randomSpan(rng)
		r, o := a.rangeOf(), b.rangeOf()
		if spanOf(r) != a {
			t.Fatalf("%v is the span %v, want %v", r, spanOf(r), a)
		}
		both := span{max(a.from, b.from), min(a.to, b.to)}
		if got := r.overlaps(order, o); got == both.isEmpty() {
			t.Fatalf("%v overlaps %v: %t", r, o, got)
		}
		if got, want := r.endsBefore(order, o.From, o.AfterFrom), a.to < b.from; got != want {
			t.Fatalf("%v ends before the start of %v: %t", r, o, got)
		}
		if got, want := spanOf(r.extend(order, o)), (span{min(a.from, b.from), max(a.to, b.to)}); got != want {
			t.Fatalf("%v and %v are %v, want %v", r, o, got.rangeOf(), want.rangeOf())
		}
		o.AfterFrom, o.BeforeTo = false, false // like the range of a table
		b = spanOf(o)
		both = span{max(a.from, b.from), min(a.to, b.to)}
		if got := spanOf((&Source{Stored: dbfile.Stored{Order: order}}).within(r, o)); !both.isEmpty() && got != both {
			t.Fatalf("%v within %v is %v, want %v", r, o, got.rangeOf(), both.rangeOf())
		}
		if !r.overlaps(table.AnyOrder, o) || spanOf(r.extend(table.AnyOrder, o)) != (span{math.MinInt, math.MaxInt}) {
			t.Fatalf("in an unknown order %v and %v have nothing in common", r, o)
		}
	}
}
