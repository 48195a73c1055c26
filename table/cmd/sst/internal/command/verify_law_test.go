package command

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// If package database rejects a database because of its files, sst verify does not call it sound. If it opens and
// reads the database, sst scan prints the same.
func TestVerifyJudgesAsDatabase(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	tries := rounds(150, 5000)
	sound, refused := 0, 0
	for seed, rng := range seeds(tries, 77) {
		dir := filepath.Join(t.TempDir(), "db")
		o := newOdd(t, rng, dir)
		o.spoil()
		o.write(t)
		what := o.what
		if rng.IntN(8) == 0 {
			d, _, err := dbdamage.Random(rng, dir)
			noError(t, err)
			what = append(what, d.String())
		}
		want, err := readDatabase(dir)
		if err != nil && !errors.Is(err, table.ErrCorrupt) && !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("seed %d, %v: %v", seed, what, err)
		}
		verified, out, stderr := sst("verify", dir)
		switch {
		case err != nil && verified == cli.ExitOK:
			t.Errorf("seed %d, %v: sst verify finds nothing: %s; database: %v", seed, what, out, err)
		case what == nil && verified != cli.ExitOK:
			t.Errorf("seed %d: a sound database: %s%s", seed, out, stderr)
		case err != nil:
			refused++
		default:
			sound++
			checkReads(t, fmt.Sprintf("seed %d, %v", seed, what), dir, want)
		}
	}
	if sound < int(tries/10) || refused < int(tries/10) {
		t.Errorf("of %d databases %d are read, %d refused", tries, sound, refused)
	}
}

// checkReads checks that sst scan and get, and the lookups and iterators of a DB, return the pairs in want, which has
// the format of scan -f hex.
func checkReads(t *testing.T, what, dir, want string) {
	t.Helper()
	lines := strings.SplitAfter(want, "\n")
	lines = lines[:len(lines)-1]
	var keys, keyLines []string
	for i := range oddKeys {
		key := fmt.Sprintf("k%03d", i)
		keys, keyLines = append(keys, key), append(keyLines, hex.EncodeToString([]byte(key)))
	}
	inOrder := func(line string) bool { return slices.Contains(keyLines, strings.Split(line, "\t")[0]) }
	if !slices.ContainsFunc(lines, func(l string) bool { return !inOrder(l) }) {
		_, got, stderr := sst(slices.Concat([]string{"get", "-f", "hex", dir}, keys)...)
		if got != want {
			t.Errorf("%s: sst get prints\n%s%swant\n%s", what, got, stderr, want)
		}
	}
	if _, got, stderr := sst("scan", "-f", "hex", dir); got != want {
		t.Errorf("%s: sst scan prints\n%s%swant\n%s", what, got, stderr, want)
	}
	slices.Reverse(lines)
	backward := strings.Join(lines, "")
	if _, got, stderr := sst("scan", "-r", "-f", "hex", dir); got != backward {
		t.Errorf("%s: sst scan --reverse prints\n%s%swant\n%s", what, got, stderr, backward)
	}
	db, err := database.Open(dir, nil)
	noError(t, err)
	defer db.Close() // it was only read
	if one, many := lookUpAll(t, db, keys); one != want || many != want {
		t.Errorf("%s: Get has\n%sGetMany has\n%swant\n%s", what, one, many, want)
	}
	it, got := db.NewIter(nil), ""
	for ok := it.Last(); ok; ok = it.Prev() {
		got += fmt.Sprintf("%x\t%x\n", it.Key(), it.Value())
	}
	if err := it.Close(); got != backward || err != nil {
		t.Errorf("%s: an iterator goes back over\n%s%v\nwant\n%s", what, got, err, backward)
	}
}

// lookUpAll returns the pairs that Get and GetMany find, in the format of sst scan -f hex.
func lookUpAll(t *testing.T, db *database.DB, keys []string) (one, many string) {
	t.Helper()
	var all [][]byte
	for _, key := range keys {
		all = append(all, []byte(key))
		value, err := db.Get([]byte(key))
		if err == nil {
			one += fmt.Sprintf("%x\t%x\n", key, value)
		} else if !errors.Is(err, table.ErrNotFound) {
			t.Error(err)
		}
	}
	lines := make([]string, len(keys)) // they come in any order
	noError(t, db.GetMany(t.Context(), all, nil, func(i int, value []byte) error {
		lines[i] = fmt.Sprintf("%x\t%x\n", keys[i], value)
		return nil
	}))
	return one, strings.Join(lines, "")
}

// readDatabase returns the output that sst scan -f hex must print for a database.
func readDatabase(dir string) (string, error) {
	db, err := database.Open(dir, nil)
	if err != nil {
		return "", err
	}
	defer db.Close() // it was only read
	var out bytes.Buffer
	for e, err := range db.All(nil) {
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&out, "%s\t%s\n", hex.EncodeToString(e.Key), hex.EncodeToString(e.Value))
	}
	return out.String(), nil
}

// An odd is a random database of tables and a log, whose MANIFEST can be spoiled before it is written.
type odd struct {
	rawDatabase
	rng     *rand.Rand
	current string
	fields  [4]versions.Field // of the MANIFEST, before those of the tables
	what    []string          // changes that no engine makes
}

// oddKeys is the number of keys that an odd can have.
const oddKeys = 30

// The indexes of odd.fields.
const (
	oddComparer = iota
	oddLog
	oddNext
	oddLast
)

// newOdd writes tables and a log: the oldest writes into the highest level.
func newOdd(t *testing.T, rng *rand.Rand, dir string) *odd {
	t.Helper()
	o := &odd{rawDatabase: rawDatabase{dir: dir, number: 1}, rng: rng, current: "MANIFEST-000001\n"}
	o.fields = [...]versions.Field{
		{Kind: versions.FieldComparer, Key: []byte(table.BytewiseComparer.Name())},
		{Kind: versions.FieldLog, Table: versions.Table{Number: 2}},
		{Kind: versions.FieldNextFile},
		{Kind: versions.FieldSequence},
	}
	levels := rng.IntN(9)
	writes := o.writes(rng.IntN(1 + 20*levels))
	if rng.IntN(3) == 0 { // LevelDB up to 1.20 can leave newer versions below older ones
		rng.Shuffle(len(writes), func(i, j int) { writes[i], writes[j] = writes[j], writes[i] })
	}
	for level := range levels {
		n := rng.IntN(1 + len(writes)/(levels-level))
		rest := writes[:len(writes)-n]
		o.addLevel(t, level, slices.Clone(writes[len(rest):]))
		if rng.IntN(10) == 0 && n > 0 {
			o.what = append(o.what, fmt.Sprintf("writes of level %d are in level 0 too, with other values", level))
			o.addLevel(t, 0, o.otherValues(writes[len(rest):]))
		}
		writes = rest
	}
	o.fields[oddNext].Number, o.fields[oddLast].Number = o.number+2, o.last
	if rng.IntN(6) == 0 {
		o.last = rng.Uint64N(o.last + 3)
		o.what = append(o.what, fmt.Sprintf("the log goes on behind %d", o.last))
	}
	o.log(t, o.writes(rng.IntN(5)))
	return o
}

// writes returns the next n writes.
func (o *odd) writes(n int) (all []rawEntry) {
	all = randomWrites(o.rng, o.last+1, n, oddKeys)
	o.last += uint64(n)
	return all
}

// otherValues returns the writes with other values, or as other kinds.
func (o *odd) otherValues(writes []rawEntry) (all []rawEntry) {
	for _, w := range writes {
		if o.rng.IntN(3) == 0 {
			w.kind = internalkey.Set - w.kind
		}
		w.value = "another " + w.value
		all = append(all, w)
	}
	return all
}

// addLevel adds tables of the writes.
func (o *odd) addLevel(t *testing.T, level int, writes []rawEntry) {
	t.Helper()
	slices.SortFunc(writes, rawEntry.compare)
	for len(writes) > 0 {
		n := 1 + o.rng.IntN(len(writes))
		o.table(t, level, 1+o.rng.IntN(20), writes[:n], nil)
		writes = writes[n:]
	}
}

// write writes CURRENT and the MANIFEST.
func (o *odd) write(t *testing.T) {
	t.Helper()
	var edit []byte
	for _, f := range slices.Concat(o.fields[:], o.tables) {
		edit = f.Append(edit)
	}
	o.rawDatabase.write(t, "MANIFEST-000001", filetest.Log(t, string(edit)))
	o.rawDatabase.write(t, "CURRENT", []byte(o.current))
}

// spoil makes some changes that no engine makes.
func (o *odd) spoil() {
	for range o.rng.IntN(3) {
		of := o.spoilState
		if len(o.tables) > 0 && o.rng.IntN(3) > 0 {
			of = func() string { return o.spoilTable(o.rng.IntN(len(o.tables))) }
		}
		o.what = append(o.what, of())
	}
}

// spoilState changes CURRENT, or a field other than a table.
func (o *odd) spoilState() string {
	switch i := o.rng.IntN(5); i {
	case oddComparer:
		o.fields[i].Key = nil
		return "no comparator"
	case len(o.fields):
		o.current = []string{"MANIFEST-000001", "MANIFEST-1\n", "MANIFEST-000001\n\n", "MANIFEST-000007\n", ""}[o.rng.IntN(5)]
		return fmt.Sprintf("CURRENT is %q", o.current)
	default:
		n := []uint64{0, 1, o.rng.Uint64N(30), o.rng.Uint64N(30), 1<<56 - 1, 1 << 56, 1<<64 - 1}[o.rng.IntN(7)]
		o.fields[i].Number = n
		return fmt.Sprintf("field %d is %d", o.fields[i].Kind, n)
	}
}

// spoilTable changes a table's entry in the MANIFEST.
func (o *odd) spoilTable(i int) string {
	m := &o.tables[i].Table
	before := *m
	key := internalkey.Key{UserKey: fmt.Appendf(nil, "k%03d", o.rng.IntN(oddKeys)), Sequence: o.rng.Uint64N(30), Kind: internalkey.Set}.Append(nil)
	switch o.rng.IntN(9) {
	case 0:
		m.Level = o.rng.IntN(9)
	case 1: // in another level too
		again := o.tables[i]
		again.Level = (m.Level + 1 + o.rng.IntN(3)) % 9
		o.tables = append(o.tables, again)
		return fmt.Sprintf("%v is listed as %v too", before, again.Table)
	case 2:
		m.Smallest = key
	case 3:
		m.Largest = key
	case 4:
		m.Smallest, m.Largest = m.Largest, m.Smallest
	case 5:
		m.Smallest = key[:o.rng.IntN(8)]
	case 6:
		m.Size = uint64(max(0, int64(m.Size)+o.rng.Int64N(3)-1))
	case 7:
		m.Number += o.rng.Uint64N(3)
	case 8:
		o.tables = slices.Delete(o.tables, i, i+1)
		return fmt.Sprintf("%v is not listed", before)
	}
	return fmt.Sprintf("%v is listed as %v", before, *m)
}
