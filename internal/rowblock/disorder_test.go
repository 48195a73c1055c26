package rowblock_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/rawtable"
	"github.com/sievetable/sievetable/internal/rowblock"
)

// Decode and Open reject keys that do not increase, even if they share fewer bytes with the key before than they
// could.
func TestDisorderIsNoticedWhateverKeysShare(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(61, 1))
	sorted := 0
	for range 3000 {
		pairs := randomPairs(rng, 12)
		for range rng.IntN(3) {
			i := rng.IntN(len(pairs) - 1)
			pairs[i], pairs[i+1] = pairs[i+1], pairs[i]
		}
		var data strings.Builder
		last := ""
		for _, p := range pairs {
			shared := rng.IntN(1 + format.SharedLen([]byte(last), []byte(p.Key)))
			data.WriteString(rawtable.Entry(uint64(shared), p.Key[shared:], "a value of twenty-one"))
			last = p.Key
		}
		data.WriteString(rawtable.Restarts(0))
		ascending := slices.IsSortedFunc(pairs, func(a, b pair) int { return strings.Compare(a.Key, b.Key) })
		if ascending {
			sorted++
		}
		var e rowblock.Decoded
		decodeErr := e.Decode([]byte(data.String()), rowblock.Order{})
		_, openErr := rowblock.Open([]byte(data.String()), rowblock.Order{})
		if (decodeErr == nil) != ascending || (openErr == nil) != ascending {
			t.Fatalf("%q: ascending is %v, but Decode = %v and Open = %v", pairs, ascending, decodeErr, openErr)
		}
	}
	if sorted == 0 || sorted == 3000 {
		t.Errorf("%d of 3000 blocks are in order", sorted)
	}
}
