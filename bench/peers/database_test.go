package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	goleveldb "github.com/syndtr/goleveldb/leveldb"
	lfilter "github.com/syndtr/goleveldb/leveldb/filter"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/util"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// A dbModel is the expected contents of a database, now and as of some sequence numbers.
type dbModel struct {
	now   map[string]string
	at    map[uint64]map[string]string // as of some sequence numbers
	last  uint64
	users map[string]bool // all keys that were ever written
}

// A liveDatabase is an open goleveldb database, and its model.
type liveDatabase struct {
	*goleveldb.DB
	dbModel
	rng *rand.Rand
}

// randomDatabase has goleveldb create a database with random options.
func randomDatabase(t *testing.T, dir string, rng *rand.Rand) *liveDatabase {
	t.Helper()
	o := &opt.Options{WriteBuffer: 1 << (10 + rng.IntN(8)), CompactionTableSize: 1 << (11 + rng.IntN(6)), BlockSize: 1 << (6 + rng.IntN(7))}
	if rng.IntN(3) > 0 {
		o.Filter = lfilter.NewBloomFilter(1 + rng.IntN(12))
	}
	if rng.IntN(2) == 0 {
		o.Compression = opt.NoCompression
	}
	db, err := goleveldb.OpenFile(dir, o)
	noError(t, err)
	return &liveDatabase{db, dbModel{now: map[string]string{}, at: map[uint64]map[string]string{0: {}}, users: map[string]bool{}}, rng}
}

// write writes random batches. It adds the contents to the model from time to time, and at the end.
func (l *liveDatabase) write(t *testing.T, batches, keys int) {
	t.Helper()
	for range batches {
		b := new(goleveldb.Batch)
		for range 1 + l.rng.IntN(8) {
			key := fmt.Sprintf("key%0*d", 1+l.rng.IntN(6), l.rng.IntN(keys))
			if l.users[key] = true; l.rng.IntN(4) == 0 {
				b.Delete([]byte(key))
				delete(l.now, key)
				continue
			}
			value := fmt.Sprint(l.last+uint64(b.Len())+1, " ", string(make([]byte, l.rng.IntN(200))))
			b.Put([]byte(key), []byte(value))
			l.now[key] = value
		}
		noError(t, l.Write(b, nil))
		if l.last += uint64(b.Len()); l.rng.IntN(batches/8+1) == 0 {
			l.at[l.last] = maps.Clone(l.now)
		}
	}
	l.at[l.last] = maps.Clone(l.now)
}

// A DB of a random goleveldb database, open or closed, has the written contents, as of each sequence number in the
// model.
func TestRandomDatabases(t *testing.T) {
	t.Parallel()
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(seed, 32))
			dir := t.TempDir()
			l := randomDatabase(t, dir, rng)
			first, err := l.GetSnapshot() // as long as it is held, the engine drops no version
			noError(t, err)
			l.write(t, 1+rng.IntN(1500), 1+rng.IntN(800))
			if rng.IntN(2) == 0 {
				noError(t, l.CompactRange(util.Range{}))
				l.write(t, 1+rng.IntN(300), 1+rng.IntN(800))
			}
			checkDatabase(t, dir, &l.dbModel, rng)
			first.Release()
			noError(t, l.Close())
			checkDatabase(t, dir, &l.dbModel, rng)
		})
	}
}

// checkDatabase compares a DB with the model of its database.
func checkDatabase(t *testing.T, dir string, m *dbModel, rng *rand.Rand) {
	t.Helper()
	o := &database.Options{Reader: table.ReaderOptions{Mapped: rng.IntN(2) == 0}}
	if rng.IntN(2) == 0 {
		o.Reader.Cache = table.NewCache(1 << 20)
	}
	db, err := database.Open(dir, o)
	noError(t, err)
	defer db.Close()
	if db.LastSequence() != m.last {
		t.Errorf("LastSequence = %d, want %d", db.LastSequence(), m.last)
	}
	for sequence, want := range m.at {
		checkView(t, db.At(sequence), want, m.users, rng)
	}
	checkView(t, db.View, m.now, m.users, rng)
}

// checkView compares a View with its expected contents.
func checkView(t *testing.T, v database.View, want map[string]string, users map[string]bool, rng *rand.Rand) {
	t.Helper()
	var keys [][]byte
	for key := range users {
		keys = append(keys, []byte(key), []byte(key+"~"))
		checkGet(t, v, key, want)
		checkGet(t, v, key+"~", want)
	}
	many := map[string]string{}
	if err := v.GetMany(context.Background(), keys, nil, func(i int, value []byte) error {
		many[string(keys[i])] = string(value)
		return nil
	}); err != nil {
		t.Error(err)
	}
	if diff := cmp.Diff(want, many); diff != "" {
		t.Errorf("GetMany (-want +got):\n%s", diff)
	}
	bounds := [2][]byte{keys[rng.IntN(len(keys))], keys[rng.IntN(len(keys))]}
	for _, o := range []*table.IterOptions{nil, {Lower: bounds[0], Upper: bounds[1]}, {Lower: bounds[1]}, {Upper: bounds[0]}} {
		checkIter(t, v, o, want)
	}
}

func checkGet(t *testing.T, v database.View, key string, want map[string]string) {
	t.Helper()
	value, there := want[key]
	got, err := v.Get([]byte(key))
	appended, appendErr := v.AppendGet([]byte("dst"), []byte(key))
	if !there && (!errors.Is(err, table.ErrNotFound) || !errors.Is(appendErr, table.ErrNotFound) || string(appended) != "dst") {
		t.Fatalf("Get(%q) = %q, %v; AppendGet %q, %v; want ErrNotFound", key, got, err, appended, appendErr)
	}
	if there && (err != nil || appendErr != nil || string(got) != value || string(appended) != "dst"+value) {
		t.Fatalf("Get(%q) = %q, %v; AppendGet %q, %v; want %q", key, got, err, appended, appendErr, value)
	}
}

// checkIter compares the entries of a View with want, in both directions.
func checkIter(t *testing.T, v database.View, o *table.IterOptions, want map[string]string) {
	t.Helper()
	var shown []workload.Pair
	for _, p := range sortedPairs(want) {
		below := o != nil && o.Lower != nil && bytes.Compare(p.Key, o.Lower) < 0
		if !below && (o == nil || o.Upper == nil || bytes.Compare(p.Key, o.Upper) < 0) {
			shown = append(shown, p)
		}
	}
	checkPairs(t, fmt.Sprintf("%+v", o), shown)(scan(v, o))
}

// scan reads all pairs of a View forward, then all pairs backward.
func scan(v database.View, o *table.IterOptions) (forward, backward []workload.Pair, err error) {
	forward, err = collect(v.All(o))
	it := v.NewIter(o)
	for ok := it.Last(); ok; ok = it.Prev() {
		backward = append(backward, workload.Pair{Key: bytes.Clone(it.Key()), Value: bytes.Clone(it.Value())})
	}
	return forward, backward, errors.Join(err, it.Close())
}
