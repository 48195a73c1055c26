package command

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table/internalkey"
)

// flipBlock damages a data block of a table.
func flipBlock(t *testing.T, path string, block int) {
	t.Helper()
	flipAt(t, path, int64(layoutOf(t, path).Data[block].Offset))
}

// damage damages a random part of the database.
func (d *levels) damage(t *testing.T) {
	t.Helper()
	kinds := []func(*testing.T) string{d.loseTable, d.loseTable, d.replaceTable, d.damageBlock, d.damageBlock, d.damageLog, d.damageLog, d.damageLog, d.addSpare, d.addSpare, d.addStray, d.cutManifest, d.cutManifest, d.loseCurrent}
	d.what = append(d.what, kinds[d.rng.IntN(len(kinds))](t))
}

func (d *levels) loseTable(t *testing.T) string {
	t.Helper()
	if len(d.tables) == 0 {
		return "no tables"
	}
	i := d.rng.IntN(len(d.tables))
	s := d.tables[i]
	noError(t, os.Remove(s.path))
	os.Remove(strings.TrimSuffix(s.path, ".ldb") + ".sst") // which would take its place
	d.tables = slices.Delete(d.tables, i, i+1)
	d.lost = append(d.lost, s.keysOfPart)
	return "lost " + s.path
}

// replaceTable replaces a table by one with all but its last entry.
func (d *levels) replaceTable(t *testing.T) string {
	t.Helper()
	i := d.rng.IntN(len(d.tables) + 1)
	if i == len(d.tables) || len(d.tables[i].blocks) < 2 || slices.ContainsFunc(d.tables[i].writes, func(block []rawEntry) bool { return block == nil }) {
		return "no sound table"
	}
	s, saved := d.tables[i], d.rawDatabase
	writes := slices.Concat(s.writes...)
	writes = writes[:len(writes)-1]
	d.number = 799
	noError(t, os.Rename(d.table(t, s.level, len(writes), writes, nil), s.path))
	d.rawDatabase, d.tables = saved, slices.Delete(d.tables, i, i+1)
	d.lost, d.replaced = append(d.lost, s.keysOfPart), append(d.replaced, writes...)
	return "replaced " + s.path
}

func (d *levels) damageBlock(t *testing.T) string {
	t.Helper()
	if len(d.tables) == 0 {
		return "no tables"
	}
	s := &d.tables[d.rng.IntN(len(d.tables))]
	i := d.rng.IntN(len(s.blocks))
	if s.writes[i] == nil {
		return "the same block"
	}
	s.writes[i] = nil
	flipBlock(t, s.path, i)
	d.lost = append(d.lost, s.blocks[i])
	return fmt.Sprintf("block %d of %s", i, s.path)
}

// damageLog removes a log that the MANIFEST names, or damages a write that others follow. After it, a reader
// continues at the next block of the log.
func (d *levels) damageLog(t *testing.T) string {
	t.Helper()
	i := d.rng.IntN(len(d.logs))
	l, after := &d.logs[i], d.logs[i+1:]
	named, err := versions.Read(d.dir)
	if d.noCurrent {
		return "no CURRENT"
	}
	noError(t, err)
	if _, missing := named.LiveLogs(nil); slices.Contains(missing, l.number) && d.rng.IntN(2) == 0 {
		if len(l.writes) == 0 || len(after) == 1 && len(after[0].writes) == 0 {
			// goleveldb removes a log without writes. If one empty log follows, nothing shows that it had some.
			return "no loss of " + l.path
		}
		os.Remove(l.path) // it may be lost already
		l.writes = nil
		d.lostLog = max(d.lostLog, l.number)
		return "lost " + l.path
	}
	return d.damageWrites(t, l, d.rng.IntN(2) == 0)
}

// damageWrites damages writes of a log, or adds a record that is not a batch.
func (d *levels) damageWrites(t *testing.T, l *storedLog, adds bool) string {
	t.Helper()
	contents, err := os.ReadFile(l.path)
	if err != nil || len(l.writes) < 2 {
		return "no writes"
	}
	d.brokenLog = true
	if !adds {
		flipAt(t, l.path, d.rng.Int64N(int64(len(contents)/2)))
		return "writes of " + l.path
	}
	first := min(len(contents), 7+int(binary.LittleEndian.Uint16(contents[4:]))) // after it, nothing is lost
	d.write(t, filepath.Base(l.path), slices.Insert(contents, first, tabletest.Log(t, "no batch")...))
	return "no batch in " + l.path
}

// addSpare adds a table that the MANIFEST does not list, as an unfinished compaction or transaction leaves it. Some
// are damaged.
func (d *levels) addSpare(t *testing.T) string {
	t.Helper()
	path, writes := d.uncommitted(t, fmt.Sprintf("%06d.ldb", 900+len(d.what)))
	if d.rng.IntN(3) == 0 {
		flipBlock(t, path, 0)
		writes = writes[min(spareBlock, len(writes)):]
	}
	d.spare = append(d.spare, writes...)
	return "spare " + path
}

// addStray adds a table with a name that no engine uses, or with the number of a listed table and another extension.
func (d *levels) addStray(t *testing.T) string {
	t.Helper()
	names := []string{"backup.ldb", "77.ldb", "0000901.ldb"}
	for _, s := range d.tables {
		names = append(names, strings.TrimSuffix(filepath.Base(s.path), ".ldb")+".sst")
	}
	path, _ := d.uncommitted(t, names[d.rng.IntN(len(names))])
	return "stray " + path
}

// spareBlock is the number of entries per block in tables that the MANIFEST does not list.
const spareBlock = 3

// uncommitted writes a table that the MANIFEST does not list.
func (d *levels) uncommitted(t *testing.T, name string) (path string, writes []rawEntry) {
	t.Helper()
	saved := d.rawDatabase
	d.number = 799
	for _, w := range d.writes {
		if d.rng.IntN(3) == 0 && w.sequence <= d.last {
			writes = append(writes, w)
		}
	}
	if d.rng.IntN(2) == 0 || len(writes) == 0 {
		writes = append(writes, randomWrites(d.rng, 1000, 5, 1+d.rng.IntN(6))...)
	}
	if d.last > 0 && d.rng.IntN(2) == 0 { // a compaction has dropped its deletion
		writes = append(writes, rawEntry{fmt.Sprintf("k%03dx", d.rng.IntN(80)), 1 + d.rng.Uint64N(d.last), internalkey.Set, "deleted"})
	}
	path = filepath.Join(d.dir, name)
	noError(t, os.Rename(d.table(t, 0, spareBlock, writes, nil), path))
	d.rawDatabase = saved
	return path, writes
}

// loseCurrent removes CURRENT, or damages it so that it names no MANIFEST that exists. Sometimes it adds an older
// MANIFEST, which lists fewer tables.
func (d *levels) loseCurrent(t *testing.T) string {
	t.Helper()
	if d.noCurrent {
		return "the same CURRENT"
	}
	d.noCurrent = true
	path, current := filepath.Join(d.dir, "CURRENT"), []string{"", "", "nonsense\n", "MANIFEST-000077\n"}[d.rng.IntN(4)]
	if writeFile(t, path, current); current == "" {
		noError(t, os.Remove(path))
	}
	d.outOfDate = strings.HasPrefix(current, "MANIFEST")
	if d.rng.IntN(2) == 0 {
		d.outOfDate = true
		older := &rawDatabase{dir: filepath.Join(t.TempDir(), "older")}
		older.end(t)
		for from, to := range map[string]string{filepath.Join(d.dir, "MANIFEST-000000"): "MANIFEST-000050", filepath.Join(older.dir, "MANIFEST-000000"): "MANIFEST-000009"} {
			noError(t, os.Rename(from, filepath.Join(d.dir, to)))
		}
	}
	return fmt.Sprintf("CURRENT is %q, out of date %t", current, d.outOfDate)
}

// tornEdit is the start of an edit that was not written completely.
const tornEdit = "\x01\x02\x03\x04\xff\x00\x01cut"

// cutManifest adds unreadable bytes to the MANIFEST.
func (d *levels) cutManifest(t *testing.T) string {
	t.Helper()
	if d.torn || d.doubt || d.noCurrent {
		return "the same MANIFEST"
	}
	path := filepath.Join(d.dir, "MANIFEST-000000")
	contents := readFile(t, path)
	end := tornEdit
	if d.doubt = d.rng.IntN(2) == 0; d.doubt {
		end = strings.Repeat("\x00", 7) + "unread"
	} else {
		d.torn = true
	}
	writeFile(t, path, append(contents, end...))
	return fmt.Sprintf("MANIFEST and %q", end)
}
