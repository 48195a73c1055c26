package format_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/block"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rawtable"
)

// walk returns the keys and values that Walk visits, alternating.
func walk(data []byte, sorted bool) (pairs []string, err error) {
	err = format.Walk(data, sorted, math.MaxInt, func(key, value []byte) error {
		pairs = append(pairs, string(key), string(value))
		return nil
	})
	return pairs, err
}

// build returns a block of keys and values, alternating.
func build(t *testing.T, interval int, pairs ...string) []byte {
	t.Helper()
	w, err := block.NewWriter(interval, block.Order{})
	for i := 0; i < len(pairs) && err == nil; i += 2 {
		err = w.Append([]byte(pairs[i]), []byte(pairs[i+1]))
	}
	if err != nil {
		t.Fatal(err)
	}
	return w.Finish()
}

// Walk visits each entry once, in the order of the block, for any restart interval.
func TestWalkVisitsEachEntryOnce(t *testing.T) {
	t.Parallel()
	for _, interval := range []int{1, 2, 16} {
		var want []string
		for n := range 40 {
			if n > 0 {
				want = append(want, fmt.Sprintf("common prefix%02d%s", n, strings.Repeat("x", n%3)), fmt.Sprint(n))
			}
			for _, sorted := range []bool{false, true} {
				got, err := walk(build(t, interval, want...), sorted)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Fatalf("interval %d, %d entries: %v (-want +got):\n%s", interval, n, err, diff)
				}
			}
		}
	}
}

// Walk reports the same errors as block.Open, and visits the entries before them.
func TestWalkRefusesWhatOpenDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range rawtable.MalformedBlocks {
		t.Run(tt.Name, func(t *testing.T) {
			for sorted, order := range map[bool]block.Order{true: {}, false: {Unchecked: true}} {
				pairs, got := walk([]byte(tt.Contents), sorted)
				if _, want := block.Open([]byte(tt.Contents), order); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("Walk = %v, Open = %v", got, want)
				}
				for i := 2; i < len(pairs) && sorted; i += 2 {
					if pairs[i-2] >= pairs[i] {
						t.Errorf("visits %q after %q", pairs[i], pairs[i-2])
					}
				}
			}
		})
	}
}

// An error of visit ends the walk at its entry.
func TestWalkEndsAtAnErrorOfVisit(t *testing.T) {
	t.Parallel()
	enough, n := errors.New("enough"), 0
	err := format.Walk(build(t, 2, "a", "1", "ab", "2", "c", "3"), true, 10, func(_, _ []byte) error {
		if n++; n == 2 {
			return enough
		}
		return nil
	})
	if err != enough || n != 2 {
		t.Errorf("Walk = %v after %d entries, want %v after 2", err, n, enough)
	}
}

// Only keys that share bytes take memory: others are parts of the block. Long ones take it once.
func TestMemoryOfAWalk(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("k", 10_000)
	data := build(t, 16, "a", "", "ab", "", long, "", "l", "", "l"+long[1:], "", "l"+long, "", "m"+long, "")
	for memory, ok := range map[int]bool{10_001: true, 10_000: false} {
		n := 0
		err := format.Walk(data, true, memory, func(key, _ []byte) error {
			if n++; len(key) != cap(key) {
				t.Errorf("key %d of %d bytes has a capacity of %d", n, len(key), cap(key))
			}
			return nil
		})
		if (err == nil) != ok || ok != (n == 7) {
			t.Errorf("with %d bytes: %v after %d keys", memory, err, n)
		}
	}
}
