package rowblock_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// walk returns the entries that Walk visits. It checks the number of shared bytes of each key.
func walk(t *testing.T, data []byte, o rowblock.Order) (pairs []pair, err error) {
	t.Helper()
	var last []byte
	err = rowblock.Walk(data, o, nil, func(key []byte, shared int, value []byte) error {
		if !bytes.HasPrefix(key, last[:min(shared, len(last))]) || shared > len(last) {
			t.Errorf("key %q shares %d bytes with %q", key, shared, last)
		}
		last = bytes.Clone(key)
		pairs = append(pairs, pair{string(key), string(value)})
		return nil
	})
	return pairs, err
}

// Walk visits each entry once, in the order of the block, for any restart interval and order.
func TestWalkShowsEachEntryOnce(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(26, 26))
	for _, interval := range []int{1, 2, 16} {
		for _, compare := range []func(a, b []byte) int{nil, bytes.Compare} {
			for n := range 40 {
				want := randomPairs(rng, n)
				got, err := walk(t, build(t, interval, want), rowblock.Order{Func: compare})
				noError(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("interval %d, %d entries (-want +got):\n%s", interval, n, diff)
				}
			}
		}
	}
}

// Walk reports the same errors as Open.
func TestWalkRefusesWhatOpenDoes(t *testing.T) {
	t.Parallel()
	for _, tt := range rawtable.MalformedBlocks {
		t.Run(tt.Name, func(t *testing.T) {
			for _, o := range []rowblock.Order{{}, {Func: bytes.Compare}, {Unchecked: true}} {
				_, want := rowblock.Open([]byte(tt.Contents), o, nil)
				if _, got := walk(t, []byte(tt.Contents), o); fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("Walk = %v, Open = %v", got, want)
				}
			}
		})
	}
}

// Walk visits the entries before a fault, and none that is a part of it. So it visits the same entries in both
// orders, one of which is checked faster.
func TestWalkShowsWhatIsBeforeAFault(t *testing.T) {
	t.Parallel()
	for _, tt := range rawtable.MalformedBlocks {
		t.Run(tt.Name, func(t *testing.T) {
			plain, _ := walk(t, []byte(tt.Contents), rowblock.Order{Func: bytes.Compare})
			quick, _ := walk(t, []byte(tt.Contents), rowblock.Order{})
			if diff := cmp.Diff(plain, quick); diff != "" {
				t.Errorf("(-compared by a Func +bytewise):\n%s", diff)
			}
		})
	}
}

// An error of visit ends the walk at its entry.
func TestWalkEndsAtAnErrorOfVisit(t *testing.T) {
	t.Parallel()
	enough := errors.New("enough")
	for _, interval := range []int{1, 2} {
		t.Run(fmt.Sprintf("interval=%d", interval), func(t *testing.T) {
			n := 0
			err := rowblock.Walk(build(t, interval, []pair{{"a", "1"}, {"ab", "2"}, {"c", "3"}}), rowblock.Order{}, nil, func([]byte, int, []byte) error {
				if n++; n == 2 {
					return enough
				}
				return nil
			})
			if err != enough || n != 2 {
				t.Errorf("Walk = %v after %d entries, want %v after 2", err, n, enough)
			}
		})
	}
}
