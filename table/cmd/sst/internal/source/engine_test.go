package source

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// goleveldb writes the same bytes for the same records.
func TestLogIsThatOfGoleveldb(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 32))
		records := make([]string, rng.IntN(20))
		for i := range records {
			records[i] = strings.Repeat(string([]byte{byte(rng.Uint32())}), rng.IntN(1<<rng.IntN(17)))
		}
		if ours, theirs := tabletest.Log(t, records...), filetest.Log(t, records...); !bytes.Equal(ours, theirs) {
			t.Errorf("seed %d: %d bytes differ from goleveldb's %d", seed, len(ours), len(theirs))
		}
	}
}
