package database_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// checkAgrees compares a DB's result for each key with the contents of the files, and reports whether all of them
// can be read.
func checkAgrees(t *testing.T, db *database.DB, files fstest.MapFS) (compared bool) {
	t.Helper()
	shown, err := shownBy(db.View)
	raw, rawErr := readSources(db, files)
	if (err == nil) != (rawErr == nil) && !errors.Is(err, table.ErrCorrupt) {
		t.Fatalf("iterators: %v; tables and log: %v", err, rawErr)
	}
	keys := [][]byte{{}, []byte("a"), []byte("b"), []byte("c"), []byte("d"), []byte("e"), []byte("f"), []byte("\xff")}
	for _, p := range shown {
		keys = append(keys, p.Key)
	}
	for _, key := range keys {
		value, getErr := db.Get(key)
		checkSameAnswer(t, db.View, key, value, getErr)
		if err != nil || rawErr != nil {
			continue
		}
		checkAnswer(t, fmt.Sprintf("Get(%q)", key), value, getErr, raw.newest(key, db.LastSequence()))
		value, getErr = nil, table.ErrNotFound
		if i, found := slices.BinarySearchFunc(shown, key, func(p workload.Pair, key []byte) int { return bytes.Compare(p.Key, key) }); found {
			value, getErr = shown[i].Value, nil
		}
		checkAnswer(t, fmt.Sprintf("the iterators, of %q,", key), value, getErr, raw.newest(key, db.LastSequence()))
	}
	return err == nil && rawErr == nil
}

// shownBy returns the entries of iterators in both directions.
func shownBy(v database.View) (shown []workload.Pair, err error) {
	if shown, err = pairsOf(v.All(nil)); err != nil {
		return nil, err
	}
	it := v.NewIter(nil)
	var down []workload.Pair
	for ok := it.Last(); ok; ok = it.Prev() {
		down = append(down, workload.Pair{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())})
	}
	if err := it.Close(); err != nil {
		return nil, err
	}
	slices.Reverse(down)
	if diff := tabletest.DiffPairs(shown, down); diff != "" {
		return nil, errors.New("(-Next +Prev):\n" + diff)
	}
	return shown, nil
}

// checkSameAnswer checks that AppendGet and GetMany agree with Get.
func checkSameAnswer(t *testing.T, v database.View, key, value []byte, err error) {
	t.Helper()
	appended, appendErr := v.AppendGet(nil, key)
	var many []byte
	var noAnswer error
	o := &table.GetManyOptions{NoAnswer: func(_ int, err error) { noAnswer = err }}
	manyErr := v.GetMany(t.Context(), [][]byte{key}, o, func(_ int, value []byte) error {
		many = value
		return nil
	})
	if fmt.Sprint(noAnswer) != fmt.Sprint(manyErr) {
		t.Errorf("GetMany of %q = %v, and NoAnswer was called with %v", key, manyErr, noAnswer)
	}
	if manyErr == nil && many == nil {
		manyErr = table.ErrNotFound
	}
	if fmt.Sprint(err) != fmt.Sprint(appendErr) || fmt.Sprint(err) != fmt.Sprint(manyErr) || !bytes.Equal(value, appended) || !bytes.Equal(value, many) {
		t.Errorf("Get(%q) = %q, %v; AppendGet %q, %v; GetMany %q, %v", key, value, err, appended, appendErr, many, manyErr)
	}
}

// checkAnswer compares an answer with the expected version. Nil means none.
func checkAnswer(t *testing.T, what string, value []byte, err error, want *entry) {
	t.Helper()
	switch {
	case want == nil || want.Kind == internalkey.Delete:
		if !errors.Is(err, table.ErrNotFound) {
			t.Errorf("%s = %q, %v; want ErrNotFound", what, value, err)
		}
	case want.Kind == internalkey.Set && (err != nil || string(value) != want.value):
		t.Errorf("%s = %q, %v; want %q", what, value, err, want.value)
	}
}

// sources are the entries of a database: the log's, level 0's, and each further level's, the newest of equal ones
// first.
type sources [][]entry

// readSources reads the tables and the log without package database.
func readSources(db *database.DB, files fstest.MapFS) (all sources, err error) {
	all = make(sources, 100)
	log := new(wal.Log)
	data := files["000007.log"].Data
	for w, err := range log.Writes(bytes.NewReader(data), int64(len(data))) {
		if err != nil {
			return nil, err
		}
		w.UserKey = bytes.Clone(w.UserKey)
		all[0] = append(all[0], entry{w.Key, string(w.Value)})
	}
	slices.Reverse(all[0])
	for _, m := range db.Tables() {
		entries, err := readEntries(files, m)
		if err != nil {
			return nil, err
		}
		all[m.Level+1] = append(all[m.Level+1], entries...)
	}
	return all, nil
}

func readEntries(files fs.FS, m database.Table) (entries []entry, err error) {
	data, err := fs.ReadFile(files, m.Name)
	if err != nil {
		return nil, err
	}
	r, err := table.NewReader(bytes.NewReader(data[:min(m.Size, int64(len(data)))]), m.Size, &table.ReaderOptions{Comparer: table.InternalComparer(nil)})
	if err != nil {
		return nil, err
	}
	pairs, err := pairsOf(r.All(nil))
	for _, p := range pairs {
		key, _ := internalkey.Parse(p.Key)
		entries = append(entries, entry{key, string(p.Value)})
	}
	return entries, err
}

// newest returns the version of a key that has the highest sequence number.
func (s sources) newest(user []byte, sequence uint64) (newest *entry) {
	for _, entries := range s {
		for _, e := range entries {
			newer := newest == nil || e.Sequence > newest.Sequence || e.Sequence == newest.Sequence && e.Kind > newest.Kind
			if bytes.Equal(e.UserKey, user) && e.Sequence <= sequence && newer {
				newest = &e
			}
		}
	}
	return newest
}
