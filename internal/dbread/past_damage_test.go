package dbread_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/dbread"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Whichever data blocks are corrupt, if a lookup fails, FindPastDamage finds the newest version of the user key in a
// sound block, at or before the sequence number of the lookup.
func TestFindPastDamage(t *testing.T) {
	t.Parallel()
	found, none := 0, 0
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 71))
		var pairs []workload.Pair
		for user := range 5 {
			for n := range rng.IntN(6) {
				k := internalkey.Key{UserKey: fmt.Appendf(nil, "k%d", user), Sequence: uint64(100 - n), Kind: internalkey.Set}
				pairs = append(pairs, workload.Pair{Key: k.Append(nil), Value: fmt.Append(nil, seed, n)})
			}
		}
		order := table.InternalComparer(nil)
		contents := tabletest.Build(t, &table.WriterOptions{Comparer: order, BlockSize: 1 + rng.IntN(60), FilterPolicy: filter.NewBloom(10)}, pairs)
		l, err := tabletest.Open(t, contents, &table.ReaderOptions{Comparer: order}).Layout()
		errtest.NoError(t, err)
		for _, h := range l.Data {
			if rng.IntN(2) == 0 {
				contents[h.Offset] ^= 1
			}
		}
		r := tabletest.Open(t, contents, &table.ReaderOptions{Comparer: order})
		sound := map[string]bool{}
		for e := range r.All(&table.IterOptions{OnLoss: func(table.Loss) bool { return true }}) {
			sound[string(e.Key)] = true
		}
		for user := range 5 {
			seek := internalkey.SearchKey(nil, fmt.Appendf(nil, "k%d", user), uint64(94+rng.IntN(8)))
			if _, _, err := r.Find(seek); !errors.Is(err, table.ErrCorrupt) {
				continue
			}
			var want string
			for _, p := range pairs { // in order
				if want == "" && sound[string(p.Key)] && order.Compare(p.Key, seek) >= 0 && string(internalkey.UserKey(p.Key)) == string(internalkey.UserKey(seek)) {
					want = string(p.Key) + "=" + string(p.Value)
				}
			}
			got := ""
			if k, v := dbread.FindPastDamage(r, table.BytewiseComparer, seek); k != nil {
				got = string(k) + "=" + string(v)
				found++
			} else {
				none++
			}
			if got != want {
				t.Errorf("seed %d: past damage at %q is %q, want %q", seed, seek, got, want)
			}
		}
	}
	if found < 20 || none < 20 {
		t.Errorf("%d found, %d not: the test does not test enough", found, none)
	}
}
