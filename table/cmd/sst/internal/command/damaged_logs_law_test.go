package command

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
)

// If two logs are damaged, or the second one is missing, each may have lost newer writes, so no older version is
// certain. Writes that a table outside the MANIFEST has are shown.
func TestTwoDamagedLogs(t *testing.T) {
	t.Parallel()
	for seed, rng := range seeds(rounds(60, 2000), 101) {
		d := &levels{rawDatabase: rawDatabase{dir: filepath.Join(t.TempDir(), "db")}, rng: rng, writes: randomWrites(rng, 1, 16+rng.IntN(8), 8)}
		first, second := 3+rng.IntN(6), 10+rng.IntN(6)
		d.addLevel(t, rng.IntN(2), d.writes[:first])
		inTables := d.last
		d.addLog(t, d.writes[first:second])
		d.addLog(t, d.writes[second:])
		d.last = uint64(len(d.writes)) // what was not finished can have all writes
		d.what = append(d.what, d.addSpare(t))
		d.last = inTables
		d.nameLog(versions.FieldPreviousLog, d.logs[0].number)
		d.nameLog(versions.FieldLog, d.logs[1].number)
		d.end(t)
		if isLost := rng.IntN(3) == 0; isLost {
			os.Remove(d.logs[1].path)
			d.lostLog, d.what = d.logs[1].number, append(d.what, "the second log")
		}
		for i := range d.logs {
			d.what = append(d.what, d.damageWrites(t, &d.logs[i], rng.IntN(2) == 0))
		}
		what := fmt.Sprintf("seed %d, %q", seed, d.what)
		s := openSource(t, d.dir, source.Options{ListOptions: dbdir.ListOptions{Repair: true}})
		shown := d.scan(t, what, s, true)
		s.Close()
		for _, w := range d.spare {
			if value, found := shown[w.key]; w.sequence == d.newest(w.key) && w.kind != 0 && (!found || value != w.value) && !d.hasUncommitted(w.key) {
				t.Errorf("%s: key %s = %q, %t; want %q, which a table has that is not listed", what, w.key, value, found, w.value)
			}
		}
	}
}

// hasUncommitted reports whether a table that is not listed has a write to the key that no log or listed table had.
func (d *levels) hasUncommitted(key string) bool {
	return slices.ContainsFunc(d.spare, func(w rawEntry) bool { return w.key == key && w.sequence > uint64(len(d.writes)) })
}
