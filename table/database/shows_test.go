package database_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// layouts are databases, and what they show.
var layouts = []struct {
	name string
	lay  func(t *testing.T, l *layout)
	want model
	last uint64
}{
	{"nothing", func(*testing.T, *layout) {}, model{}, 0},
	{"an empty log only", func(t *testing.T, l *layout) { l.write(t) }, model{}, 0},
	{"a log only", func(t *testing.T, l *layout) {
		l.write(t, batch(set("a", 1, "old"), set("b", 2, "b"), del("b", 3)), batch(set("a", 4, "new")))
	}, model{"a": "new"}, 4},
	{"the log before level 0, and that before the levels below", func(t *testing.T, l *layout) {
		l.table(t, 2, set("a", 1, "oldest"), set("b", 2, "b"), set("c", 3, "c"))
		l.table(t, 0, set("a", 4, "old"), del("b", 5))
		l.write(t, batch(set("a", 6, "new")))
	}, model{"a": "new", "c": "c"}, 6},
	{"a key in several tables of level 0", func(t *testing.T, l *layout) {
		l.table(t, 0, set("a", 1, "1"), set("b", 2, "2"))
		l.table(t, 0, set("a", 3, "3"), del("b", 4))
		l.table(t, 0, set("a", 5, "5"), set("b", 6, "6"))
	}, model{"a": "5", "b": "6"}, 6},
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
		l.last = table.MaxSequence - 1
		l.write(t, batch(set("\xff\xff", table.MaxSequence, "last")))
	}, model{"": "empty key", "b": "", "\xff\xff": "last"}, table.MaxSequence},
	{"a live log behind the one that the MANIFEST names", func(t *testing.T, l *layout) {
		l.write(t, batch(set("a", 1, "old")))
		l.write(t, batch(set("a", 2, "new")))
	}, model{"a": "new"}, 2},
	{"a log that is in a table", func(t *testing.T, l *layout) {
		l.write(t, batch(set("a", 1, "old"), set("b", 2, "b")))
		l.table(t, 0, set("a", 1, "old"), del("a", 3), del("b", 4))
		l.log = 0
		l.write(t)
	}, model{}, 4},
	{"tables of old engines", func(t *testing.T, l *layout) {
		l.extension = "sst"
		l.table(t, 1, set("a", 1, "a"))
	}, model{"a": "a"}, 1},
}

// Which version shows, by what has it. Lookups and iterators agree.
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
			}
		})
	}
}

// With IgnoreLogs, the tables alone show. A log may then be missing, or damaged.
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

// A version with a higher sequence number than the last one shows nowhere, as in the engines: they took
// its write back.
func TestHigherThanTheLastSequence(t *testing.T) {
	t.Parallel()
	var l layout
	l.table(t, 1, set("a", 1, "old"), set("a", 2, "new"), set("b", 3, "b"))
	l.last = 1
	db := openFS(t, l.end(t), nil)
	c := &checker{rand.New(rand.NewPCG(3, 4)), table.BytewiseComparer, []string{"", "a", "b"}}
	c.check(t, db.View, model{"a": "old"})
	c.check(t, db.At(table.MaxSequence), model{"a": "old"})
}

// A log with a name that engines do not give it is not read: they do not either.
func TestLogOfAnotherName(t *testing.T) {
	t.Parallel()
	var l layout
	name := l.write(t, batch(set("a", 1, "a")))
	files := l.end(t)
	files[strings.TrimLeft(name, "0")], files["0"+name] = files["CURRENT"], files["CURRENT"]
	checkGet(t, openFS(t, files, nil).View, "a", "a", true)
}

// A version of a kind that LevelDB does not have is damage, which names the table.
func TestUnknownKind(t *testing.T) {
	t.Parallel()
	for level := range 2 {
		var l layout
		l.table(t, level, entry{table.InternalKey{UserKey: []byte("k"), Sequence: 1, Kind: 7}, "v"})
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
