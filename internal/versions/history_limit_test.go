package versions

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/wal"
)

// A History can have as many listed tables as a Version, and more deleted ones.
func TestHistoryLimit(t *testing.T) {
	long.Test(t)
	t.Parallel()
	const total = MaxTables + 1
	for _, deletes := range []bool{false, true} {
		var manifest bytes.Buffer
		w := wal.NewWriter(&manifest)
		for n := uint64(0); n < total; {
			var edit []byte
			for range 1000 {
				if n++; deletes && n > 1 {
					edit = Field{Kind: FieldDelete, Table: Table{Number: n - 1}}.Append(edit)
				}
				edit = Field{Kind: FieldAdd, Table: Table{Number: n}}.Append(edit)
			}
			noError(t, w.Append(edit))
		}
		h := History{tables: map[uint64]*Table{}}
		if err := h.read(&manifest); (err == nil) != deletes {
			t.Errorf("with deletions: %v: reading a MANIFEST of %d tables: %v", deletes, total, err)
		}
	}
}
