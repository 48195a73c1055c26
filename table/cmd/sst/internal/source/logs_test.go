package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/opt"

	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// A log with damage all over is reported in bounded memory, and read to its end.
func TestDamageIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "000001.log")
	batches := []string{"\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01a"} // deletes "a"
	for i := range 1000 {
		batches = append(batches, fmt.Sprintf("\x01\x00\x00\x00\x00\x00\x00\x00%c\x00\x00\x00", 1+i%2)) // claims to have writes
	}
	batches = append(batches, "\x02\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01b")
	noError(t, os.WriteFile(path, filetest.Log(t, batches...), 0o666))
	l := dbfile.Log{Path: path}
	var users []string
	for w, err := range l.Writes() {
		noError(t, err)
		users = append(users, string(w.UserKey))
	}
	if diff := cmp.Diff([]string{"a", "b"}, users); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
	const listed = 100 // further damage is only counted
	if len(l.Damage) != listed+1 || l.Damage[listed].Offset <= l.Damage[listed-1].Offset || l.Damage[listed].Error() != "log: 900 more damaged parts skipped: no writes are lost, because sequence numbers 1 and 2 are both present" {
		t.Errorf("%d parts, the last %v", len(l.Damage), l.Damage[len(l.Damage)-1])
	}
}

// All writes of a log count, however large it is. Small logs are sorted in memory, others in temporary files.
func TestLogsOfAnySize(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"in memory": 100, "in files": 2 * dbfile.MaxSortInMemory} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			want := map[string]string{}
			const n = 50
			value := bytes.Repeat([]byte("v"), size/n)
			writeTo(t, dir, &opt.Options{WriteBuffer: 4 * dbfile.MaxSortInMemory}, func(db *leveldb.DB) (err error) {
				for i := range 2 * n {
					key, value := fmt.Sprintf("key%03d", i*7%n), append(value, fmt.Sprint(i)...)
					if want[key] = string(value); i%5 == 4 {
						delete(want, key)
						err = errors.Join(err, db.Delete([]byte(key), nil))
					} else {
						err = errors.Join(err, db.Put([]byte(key), value, nil))
					}
				}
				return err
			})
			s := openSource(t, dir, Options{})
			got, last := map[string]string{}, ""
			for e, err := range s.Scan(ScanOptions{}) {
				if err != nil || strings.Compare(last, string(e.Key)) >= 0 {
					t.Fatalf("%q after %q, error %v", e.Key, last, err)
				}
				last = string(e.Key)
				got[last] = string(e.Value)
			}
			if !cmp.Equal(want, got) {
				t.Errorf("%d entries, want %d", len(got), len(want))
			}
		})
	}
}

// For writes with the same sequence number, which only damaged logs have, Get agrees with a scan. So it does for
// keys whose bytes differ but which are equal in the order. A scan of all versions yields each sequence number and
// kind once.
func TestGetAgreesWithScan(t *testing.T) {
	t.Parallel()
	for seed := range uint64(100) {
		rng := rand.New(rand.NewPCG(seed, 97))
		var o Options
		if rng.IntN(2) == 0 {
			o.Order = dbfile.ExplicitOrder(filetest.FoldingComparer{Comparer: table.BytewiseComparer})
		}
		dir := t.TempDir()
		for i := range 1 + rng.IntN(3) {
			var batches []string
			for range rng.IntN(8) {
				batches = append(batches, randomBatch(rng))
			}
			noError(t, os.WriteFile(filepath.Join(dir, fmt.Sprintf("%06d.log", i)), filetest.Log(t, batches...), 0o666))
		}
		s := openSource(t, dir, o)
		shown := map[string]string{} // by folded key
		fold := func(key string) string {
			if o.Order.Comparer != nil {
				return strings.ToLower(key)
			}
			return key
		}
		for e, err := range s.Scan(ScanOptions{}) {
			if _, twice := shown[fold(string(e.Key))]; twice || err != nil {
				t.Fatalf("seed %d: key %q is there twice, or %v", seed, e.Key, err)
			}
			shown[fold(string(e.Key))] = string(e.Value)
		}
		if rng.IntN(2) == 0 {
			noError(t, s.PrefetchLogs([]byte("a"), []byte("A"), []byte("B")))
		}
		for _, key := range []string{"a", "A", "b", "B", "c"} {
			value, there := shown[fold(key)]
			if e, found, err := s.Get([]byte(key)); found != there || err != nil || found && string(e.Value) != value {
				t.Errorf("seed %d: Get(%q) = %q, %t, %v; the scan shows %q, %t", seed, key, e.Value, found, err, value, there)
			}
		}
	}
}

// randomBatch returns a batch of up to 3 writes to few keys, whose first one has a low sequence number.
func randomBatch(rng *rand.Rand) string {
	n := 1 + rng.IntN(3)
	batch := fmt.Sprintf("%c\x00\x00\x00\x00\x00\x00\x00%c\x00\x00\x00", 1+rng.IntN(5), n)
	for range n {
		key := string("aAbB"[rng.IntN(4)])
		if rng.IntN(3) == 0 {
			batch += "\x00\x01" + key
		} else {
			batch += "\x01\x01" + key + "\x01" + string(rune('0'+rng.IntN(75)))
		}
	}
	return batch
}

// The losses of a damaged log are inferred from the sequence numbers around them, even if nothing else indicates a
// loss, and also from one log to the next.
func TestLostSequenceNumbers(t *testing.T) {
	t.Parallel()
	const malformed = "no batch at all"
	for name, tt := range map[string]struct {
		before, log []string
		start       uint64
		want        []string
	}{
		"nothing":                      {nil, []string{filetest.Deletion(5), filetest.Deletion(6)}, 5, nil},
		"a log from within its tables": {nil, []string{filetest.Deletion(2), filetest.Deletion(3)}, 5, nil},
		"in the middle":                {nil, []string{filetest.Deletion(5), malformed, filetest.Deletion(9)}, 5, []string{"offset 22: batch: write 0 is malformed", "the writes with sequence numbers 6 to 8 are lost"}},
		"one write":                    {nil, []string{filetest.Deletion(5), malformed, filetest.Deletion(7)}, 5, []string{"the write with sequence number 6 is lost"}},
		"no write":                     {nil, []string{filetest.Deletion(5), malformed, filetest.Deletion(6)}, 5, []string{"no writes are lost, because sequence numbers 5 and 6 are both present"}},
		"at the start":                 {nil, []string{malformed, filetest.Deletion(9)}, 5, []string{"writes with sequence numbers < 9 may be lost"}},
		"at the end":                   {nil, []string{filetest.Deletion(5), malformed}, 5, []string{"writes with sequence numbers > 5 may be lost"}},
		"all":                          {nil, []string{malformed}, 5, []string{"its writes are lost"}},
		"without a trace":              {nil, []string{filetest.Deletion(5), filetest.Deletion(8)}, 5, []string{"writes before this offset are missing: the writes with sequence numbers 6 to 7 are lost"}},
		"behind an empty log":          {nil, []string{filetest.Deletion(8)}, 5, []string{"offset 0: writes between its end and the next log are missing: writes with sequence numbers < 8 may be lost"}},
		"behind one, not known":        {nil, []string{filetest.Deletion(8)}, 0, nil},
		"the first of all":             {nil, []string{filetest.Deletion(2)}, 1, []string{"offset 0: writes between its end and the next log are missing: writes with sequence numbers < 2 may be lost"}},
		"of a new database":            {[]string{filetest.Deletion(1), filetest.Deletion(2)}, []string{filetest.Deletion(4)}, 1, []string{"the write with sequence number 3 is lost"}},
		"between two logs":             {[]string{filetest.Deletion(5), filetest.Deletion(6)}, []string{filetest.Deletion(8)}, 21, []string{"the write with sequence number 7 is lost"}},
		"behind a log that was cut":    {[]string{""}, []string{filetest.Deletion(7)}, 21, []string{"writes with sequence numbers < 7 may be lost"}},
		"a copy of the log before":     {[]string{filetest.Deletion(5), filetest.Deletion(6)}, []string{filetest.Deletion(5), filetest.Deletion(6)}, 21, []string{"offset 0: it does not go on where the log before ends: it is unknown which writes are lost, because sequence numbers step back from 6 to 5"}},
		"a repeated write":             {[]string{filetest.Deletion(5)}, []string{filetest.Deletion(6), filetest.Deletion(6)}, 21, nil},
		"not between two logs":         {[]string{filetest.Deletion(5), filetest.Deletion(6)}, []string{filetest.Deletion(7)}, 21, nil},
	} {
		t.Run(name, func(t *testing.T) {
			l := &dbfile.Log{Log: wal.Log{Start: tt.start}}
			for i, batches := range [][]string{tt.before, tt.log} {
				path := filepath.Join(t.TempDir(), fmt.Sprintf("%06d.log", i))
				noError(t, os.WriteFile(path, filetest.Log(t, batches...), 0o666))
				l = l.Next(path)
				for _, err := range l.Writes() {
					noError(t, err)
				}
			}
			got := fmt.Sprint(l.Damage)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("%q, want %q in it", got, want)
				}
			}
			if (l.Damage == nil) != (tt.want == nil) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

// The log of a database that never wrote a table starts with its first write. If it lacks whole blocks, this is
// noticed even if no record crosses into them.
func TestLogOfNewDatabaseLacksItsStart(t *testing.T) {
	t.Parallel()
	for size := range 40 {
		dir := t.TempDir()
		writeTo(t, dir, nil, func(db *leveldb.DB) (err error) {
			for i := range 1500 {
				err = errors.Join(err, db.Put(fmt.Appendf(nil, "key%05d", i), make([]byte, size), nil))
			}
			return err
		})
		path := onlyFile(t, filepath.Join(dir, "*.log"))
		log, err := os.ReadFile(path)
		noError(t, err)
		clear(log[:32<<10])
		noError(t, os.WriteFile(path, log, 0o666))
		s := openSource(t, dir, Options{})
		if err := s.PrefetchLogs([]byte("key00000")); err != nil || s.LogDamage() == nil {
			t.Errorf("values of %d bytes: error %v, damage %v, want damage", size, err, s.LogDamage())
		}
	}
}

// A log that is removed before it is read, because its database is in use, does not determine where the next one
// starts.
func TestLogBehindRemovedOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	next := filepath.Join(dir, "000002.log")
	noError(t, os.WriteFile(next, filetest.Log(t, filetest.Deletion(8)), 0o666))
	l := (&dbfile.Log{Log: wal.Log{Start: 5}}).Next(filepath.Join(dir, "000001.log"))
	if _, _, err := l.Verify(0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("error %v, want %v", err, fs.ErrNotExist)
	}
	if _, before, err := l.Next(next).Verify(0); before != nil || err != nil {
		t.Error(before, err)
	}
}
