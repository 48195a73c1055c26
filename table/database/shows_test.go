package database_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// layouts are unusual databases, and their expected contents.
var layouts = []struct {
	name string
	lay  func(t *testing.T, l *layout)
	want model
	last uint64
}{
	{"nothing", func(*testing.T, *layout) {}, model{}, 0},
	{"an empty log only", func(t *testing.T, l *layout) { l.write(t) }, model{}, 0},
	{"level 0 as after an engine's repair: the table of the higher number is older", func(t *testing.T, l *layout) {
		l.table(t, 0, set("a", 3, "new"), del("b", 4))
		l.table(t, 0, set("a", 1, "old"), set("b", 2, "old"))
	}, model{"a": "new"}, 4},
	{"versions of a key in two tables of a level", func(t *testing.T, l *layout) {
		l.table(t, 1, set("a", 1, "a"), set("k", 9, "new"))
		l.table(t, 1, set("k", 7, "old"), set("z", 8, "z"))
	}, model{"a": "a", "k": "new", "z": "z"}, 9},
	{"a write of a log that was repeated: the last one counts", func(t *testing.T, l *layout) {
		l.write(t, batch(set("a", 1, "was not acknowledged"), set("b", 2, "b")), batch(set("a", 1, "was acknowledged")))
	}, model{"a": "was acknowledged", "b": "b"}, 2},
	{"a write with the number of a deletion: the value counts, as in the engines", func(t *testing.T, l *layout) {
		l.table(t, 0, set("a", 1, "a"))
		l.table(t, 0, del("a", 1))
		l.write(t, batch(set("b", 2, "b")), batch(del("b", 2)))
	}, model{"a": "a", "b": "b"}, 2},
	{"sequence number 0, as of a Writer, and the highest one", func(t *testing.T, l *layout) {
		l.table(t, 6, set("", 0, "empty key"), set("b", 0, ""))
		l.write(t)
		l.last = internalkey.MaxSequence - 1
		l.write(t, batch(set("\xff\xff", internalkey.MaxSequence, "last")))
	}, model{"": "empty key", "b": "", "\xff\xff": "last"}, internalkey.MaxSequence},
	{"a log that is in a table", func(t *testing.T, l *layout) {
		l.write(t, batch(set("a", 1, "old"), set("b", 2, "b")))
		l.table(t, 0, set("a", 1, "old"), del("a", 3), del("b", 4))
		l.log = 0
		l.write(t)
	}, model{}, 4},
	{"versions higher than the last sequence number: the engines took their writes back", func(t *testing.T, l *layout) {
		l.table(t, 1, set("a", 1, "old"), set("a", 2, "new"), set("b", 3, "b"))
		l.last = 1
	}, model{"a": "old"}, 1},
	{"logs with names that engines do not give them", func(t *testing.T, l *layout) {
		name := l.write(t, batch(set("a", 1, "a")))
		other := &fstest.MapFile{Data: tabletest.Log(t, batch(set("a", 2, "of another log")))}
		l.files[strings.TrimLeft(name, "0")], l.files["0"+name] = other, other
	}, model{"a": "a"}, 1},
	{"tables of old engines", func(t *testing.T, l *layout) {
		l.extension = "sst"
		l.table(t, 1, set("a", 1, "a"))
	}, model{"a": "a"}, 1},
}

// Which version of a key is visible, depending on the tables and logs that have one. Lookups and iterators agree.
func TestShows(t *testing.T) {
	t.Parallel()
	for _, tt := range layouts {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var l layout
			tt.lay(t, &l)
			db := openFS(t, l.end(t), nil)
			if db.LastSequence() != tt.last {
				t.Errorf("LastSequence = %d, want %d", db.LastSequence(), tt.last)
			}
			c := &checker{rand.New(rand.NewPCG(1, 2)), table.BytewiseComparer, []string{"", "a", "b", "c", "k", "z", "\xff\xff", "\xff\xff\xff"}}
			for range 5 {
				c.check(t, db.View, tt.want)
				c.check(t, db.At(internalkey.MaxSequence), tt.want)
			}
		})
	}
}

// With IgnoreLogs, only tables are read. Logs may then be missing or corrupt.
func TestIgnoreLogs(t *testing.T) {
	t.Parallel()
	var l layout
	l.table(t, 0, set("a", 1, "old"), set("b", 2, "b"))
	name := l.write(t, batch(set("a", 3, "new"), del("b", 4)))
	files := l.end(t)
	for _, change := range []func(){func() {}, func() { files[name].Data[9] ^= 1 }, func() { delete(files, name) }} {
		change()
		db := openFS(t, files, &database.Options{IgnoreLogs: true})
		checkGet(t, db.View, "a", "old", true)
		checkGet(t, db.View, "b", "b", true)
		if db.LastSequence() != 2 {
			t.Errorf("LastSequence = %d, want 2", db.LastSequence())
		}
	}
}

// A version with an unknown kind is reported as corruption of its table.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	for level := range 2 {
		var l layout
		l.table(t, level, entry{internalkey.Key{UserKey: []byte("k"), Sequence: 1, Kind: 7}, "v"})
		db := openFS(t, l.end(t), nil)
		want := `database: 000002.ldb: table: corrupt: the newest version of key "k" has kind 7, not 1 (set) or 0 (delete): whether the key exists is unknown`
		if _, err := db.Get([]byte("k")); !errors.Is(err, table.ErrCorrupt) || err.Error() != want {
			t.Errorf("Get = %v, want %s", err, want)
		}
		it := db.NewIter(nil)
		if it.First() || !errors.Is(it.Error(), table.ErrCorrupt) {
			t.Errorf("First = %v, want ErrCorrupt", it.Error())
		}
		it.Close() // its error is known
	}
}

// goleveldb can flush a memtable after it has committed a transaction with higher sequence numbers. The last edit
// then has the lower number. The transaction is visible, and a log that continues from it is complete.
func TestFlushAfterTransaction(t *testing.T) {
	t.Parallel()
	committed := versions.Field{Kind: versions.FieldSequence, Table: versions.Table{Number: 3}}.Append(nil)
	for _, tt := range []struct {
		name string
		log  [][]byte
		want model
		last uint64
	}{
		{"nothing is written after it", nil, model{"a": "flushed", "b": "committed"}, 3},
		{"a log goes on", [][]byte{batch(set("a", 4, "logged"))}, model{"a": "logged", "b": "committed"}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := new(layout)
			l.table(t, 0, set("b", 2, "old"), set("b", 3, "committed"))
			l.table(t, 0, set("a", 1, "flushed"))
			l.last = 1
			l.write(t, tt.log...)
			db := openFS(t, l.end(t, committed), nil)
			if db.LastSequence() != tt.last {
				t.Errorf("LastSequence = %d, want %d", db.LastSequence(), tt.last)
			}
			c := &checker{rand.New(rand.NewPCG(1, 2)), table.BytewiseComparer, []string{"a", "b", "c"}}
			c.check(t, db.View, tt.want)
		})
	}
}
