package seen

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/table"
)

// What no State can have is damage, whatever its checksum says.
func TestImpossibleNumbers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name        string
		keys, lines uint64
		rate        float64
	}{
		{"no keys", 0, 1, 0.01},
		{"too many keys", math.MaxUint64, 1, 0.01},
		{"too many lines", 10, math.MaxUint64, 0.01},
		{"a negative rate", 10, 1, -1},
		{"too high a rate", 10, 1, 1e300},
		{"no rate", 10, 1, math.NaN()},
	} {
		path := filepath.Join(t.TempDir(), "state")
		s := open(t, path, 10, 0.01)
		s.Keys, s.Lines, s.Rate = tt.keys, tt.lines, tt.rate
		if err := errors.Join(s.Save(), s.Close()); err != nil {
			t.Fatal(err)
		}
		before, _ := os.ReadFile(path)
		if s, err := Open(path, 10, 0.01); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("%s: Open = %v, %v; want damage", tt.name, s, err)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("%s: the file changed, %v", tt.name, err)
		}
	}
}
