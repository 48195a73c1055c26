package command

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/internalkey"
)

// allLevels is above the level of all tables.
const allLevels = 99

// A keysOfPart is the range of the user keys in a part of a table.
type keysOfPart struct {
	level    int
	from, to string // both inclusive
	older    bool   // the newest version of from is in the part before it
}

// A storedTable is a table that the MANIFEST lists.
type storedTable struct {
	path string
	keysOfPart
	blocks []keysOfPart
	writes [][]rawEntry // of the blocks; nil: the block is damaged
}

// A storedLog is a live log and its writes.
type storedLog struct {
	path   string
	number uint64
	writes []rawEntry
}

// A levels is a random database with newer writes in lower levels, and the newest in logs. It keeps track of what
// damage loses.
type levels struct {
	rawDatabase
	rng    *rand.Rand
	writes []rawEntry // all of them, with the sequence numbers 1 to len(writes)
	tables []storedTable
	logs   []storedLog

	counted   uint64       // engines show no higher sequence numbers
	lost      []keysOfPart // of tables that the MANIFEST lists
	replaced  []rawEntry   // entries of tables that have replaced others
	spare     []rawEntry   // readable entries of tables that engines had not finished
	lostLog   uint64       // the highest number of a missing log
	brokenLog bool         // a log has lost writes
	doubt     bool         // the MANIFEST may lack tables
	torn      bool         // the MANIFEST has lost its end
	noCurrent bool         // CURRENT is lost
	outOfDate bool         // the MANIFEST that is read instead may be out of date
	what      []string     // what was damaged
}

// randomWrites returns n writes to at most that many keys. Their sequence numbers start at from.
func randomWrites(rng *rand.Rand, from uint64, n, keys int) (all []rawEntry) {
	for i := range n {
		e := rawEntry{fmt.Sprintf("k%03d", rng.IntN(keys)), from + uint64(i), internalkey.Kind(min(1, rng.IntN(4))), ""}
		if e.kind == internalkey.Set {
			e.value = fmt.Sprint("value", e.sequence)
		}
		all = append(all, e)
	}
	return all
}

// newLevels writes a database of at most that many writes.
func newLevels(t *testing.T, rng *rand.Rand, dir string, most int) *levels {
	t.Helper()
	n := 1 + rng.IntN(most)
	d := &levels{rawDatabase: rawDatabase{dir: dir}, rng: rng, writes: randomWrites(rng, 1, n, 1+rng.IntN(1+n))}
	d.layOut(t, true)
	return d
}

// layOut writes the tables, the logs, CURRENT and the MANIFEST.
func (d *levels) layOut(t *testing.T, withLogs bool) {
	t.Helper()
	rest, names := slices.Clone(d.writes), ""
	d.counted = uint64(len(rest))
	if withLogs && d.rng.IntN(3) == 0 { // a log that is obsolete: the MANIFEST names a later one
		d.log(t, rest[:d.rng.IntN(len(rest)+1)])
		names = "obsolete"
	}
	d.last = 0
	for _, level := range []int{5, 2, 1, 0, 0, 0} {
		n := min(d.rng.IntN(len(rest)/3+2), len(rest)) // logs have some too
		if level == 0 && !withLogs && len(d.tables) == 0 {
			n = len(rest)
		}
		d.addLevel(t, level, rest[:n])
		rest = rest[n:]
	}
	if !withLogs {
		d.addLevel(t, 0, rest)
		d.end(t)
		return
	}
	inTables := d.last
	for range d.rng.IntN(3) {
		n := d.rng.IntN(len(rest) + 1)
		d.addLog(t, rest[:n])
		rest = rest[n:]
	}
	d.addLog(t, rest)
	d.last = inTables
	d.nameLogs(names != "" || d.rng.IntN(2) == 0)
	d.end(t)
}

// countFewer rewrites the database with a MANIFEST that counts fewer writes than the tables have. Writes in logs
// count.
func (d *levels) countFewer(t *testing.T) {
	t.Helper()
	noError(t, os.RemoveAll(d.dir))
	*d = levels{rawDatabase: rawDatabase{dir: d.dir}, rng: d.rng, writes: d.writes}
	d.layOut(t, d.rng.IntN(2) == 0)
	d.last = d.rng.Uint64N(max(1, d.last)) + 1
	d.end(t)
	d.counted = d.last
	for _, l := range d.logs {
		for _, w := range l.writes {
			d.counted = max(d.counted, w.sequence)
		}
	}
}

// nameLogs makes the MANIFEST name the first live log, and sometimes the next one too.
func (d *levels) nameLogs(names bool) {
	switch {
	case !names:
	case len(d.logs) > 1 && d.rng.IntN(3) > 0:
		d.nameLog(versions.FieldPreviousLog, d.logs[0].number)
		d.nameLog(versions.FieldLog, d.logs[1].number)
	default:
		d.nameLog(versions.FieldLog, d.logs[0].number)
	}
}

// addLevel adds tables of the writes to a level. Those of level 0 overlap.
func (d *levels) addLevel(t *testing.T, level int, writes []rawEntry) {
	t.Helper()
	writes = slices.SortedFunc(slices.Values(writes), rawEntry.compare)
	for len(writes) > 0 {
		n := len(writes)
		if level > 0 {
			n = 1 + d.rng.IntN(min(n, 20))
		}
		d.addTable(t, level, writes[:n])
		writes = writes[n:]
	}
}

// addTable adds a table of writes in their order.
func (d *levels) addTable(t *testing.T, level int, writes []rawEntry) {
	t.Helper()
	size := 1 + d.rng.IntN(6)
	keys := keysOfPart{level, writes[0].key, writes[len(writes)-1].key, false}
	for i := range d.tables {
		o := &d.tables[i]
		if o.level != level {
			continue
		}
		first, last := o.writes[0][0], slices.Concat(o.writes...)
		keys.older = keys.older || o.to == keys.from && last[len(last)-1].compare(writes[0]) < 0
		if o.from == keys.to && writes[len(writes)-1].compare(first) < 0 {
			o.older, o.blocks[0].older = true, true
		}
	}
	s, part := storedTable{path: d.table(t, level, size, writes, nil), keysOfPart: keys}, keys
	for block := range slices.Chunk(writes, size) {
		part.to = block[len(block)-1].key
		s.blocks, s.writes = append(s.blocks, part), append(s.writes, block)
		part.from, part.older = part.to, true
	}
	d.tables = append(d.tables, s)
}

func (d *levels) addLog(t *testing.T, writes []rawEntry) {
	t.Helper()
	d.log(t, writes)
	d.logs = append(d.logs, storedLog{filepath.Join(d.dir, versions.LogName(d.number)), d.number, writes})
}

// current returns the pairs after the writes.
func current(writes []rawEntry) map[string]string {
	pairs := map[string]string{}
	for _, w := range writes {
		if pairs[w.key] = w.value; w.kind == internalkey.Delete {
			delete(pairs, w.key)
		}
	}
	return pairs
}
