package source

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// countingOrder counts comparisons.
type countingOrder struct {
	table.Comparer
	n *int
}

func (c countingOrder) Compare(a, b []byte) int {
	*c.n++
	return bytes.Compare(a, b)
}

// A LossCursor reports a key as lost if and only if a range contains it, whichever losses there are and whenever
// they are found. The work is not quadratic, even if each key is a loss, as if another table is in the place of a
// table.
func TestLossCursor(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	key := func(i int) []byte { return fmt.Appendf(nil, "key%05d", i) }
	const keys = 700
	for _, wide := range []bool{true, false} {
		compared := 0
		s := &Source{losses: new(losses)}
		s.Order = countingOrder{table.BytewiseComparer, &compared}
		add := func(from int) {
			l := Loss{level: rng.IntN(4), Keys: KeyRange{From: key(from), To: key(from), AfterFrom: rng.IntN(9) == 0}}
			if wide {
				l.Keys.To = key(from + rng.IntN(10))
			}
			if wide && rng.IntN(100) == 0 {
				l.Keys.From = nil
			}
			s.losses.all = append(s.losses.all, l)
		}
		for i := range keys / 2 {
			add(2 * i)
		}
		c := s.NewLossCursor()
		for i := range keys {
			if rng.IntN(10) == 0 {
				add(i + rng.IntN(20)) // found during the scan
			}
			for level := range 4 {
				want := false
				for _, l := range s.losses.all {
					want = want || l.level <= level && l.Keys.overlaps(table.BytewiseComparer, KeyRange{From: key(i), To: key(i)})
				}
				if got := c.isLostUpTo(level, key(i)); got != want {
					t.Fatalf("wide %v: key %d is lost up to level %d: %v, want %v", wide, i, level, got, want)
				}
			}
		}
		if limit := 200 * keys; !wide && compared > limit {
			t.Errorf("%d comparisons, want at most %d", compared, limit)
		}
	}
}
