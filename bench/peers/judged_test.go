package main

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/sievetable/sievetable/bench/peers/internal/goleveldb"
	"github.com/sievetable/sievetable/bench/peers/internal/history"
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

// Both engines accept the databases that a Writer writes with random keys, versions and options. They open each
// database with all checks and without repair, read its pairs, write to it, compact it, and read it again.
func TestEnginesJudgeWrittenDatabases(t *testing.T) {
	t.Parallel()
	const most = 300 // entries
	for i := range long.Rounds(25, 200) {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 23))
			j := judged{dir: filepath.Join(t.TempDir(), "db"), order: table.BytewiseComparer}
			if rng.IntN(8) == 0 {
				j.order = tabletest.Reversed("from the end") // dbtool knows this order, too
			}
			o := randomOptions(rng, j.order)
			t.Logf("options %+v", o)
			j.write(t, o, randomEntries(rng, rng.IntN(1+rng.IntN(most)), j.order))
			j.before = j.dump()
			j.change(rng, rng.IntN(100))
			j.after = j.dump()
			j.byLevelDB(t)
			j.byGoleveldb(t)
		})
	}
}

// randomOptions returns options for few or many tables, with few or many entries per block.
func randomOptions(rng *rand.Rand, order table.Comparer) *database.WriterOptions {
	o := &database.WriterOptions{TableSize: 1 << rng.IntN(20)}
	o.Table = table.WriterOptions{
		Comparer: order, BlockSize: 1 << rng.IntN(14), RestartInterval: rng.IntN(20), Concurrency: rng.IntN(3),
		Properties: rng.IntN(2) == 0, DataDigest: rng.IntN(2) == 0,
	}
	o.TableSize = max(o.TableSize, 1<<10*int64(rng.IntN(2)))
	if rng.IntN(2) == 0 {
		o.Table.Compression = table.NoCompression
	}
	if rng.IntN(3) > 0 {
		o.Table.FilterPolicy = filter.NewBloom(1 + rng.IntN(20))
		o.Table.FilterBaseLg = rng.IntN(14)
	}
	if rng.IntN(3) == 0 {
		o.Table.TableFilterPolicy = filter.NewTableBloom(10)
	}
	return o
}

// An entry is a version of a user key.
type entry struct {
	internalkey.Key
	value []byte
}

// randomEntries returns versions of n user keys in order: one each with the sequence number 0, or
// several with higher ones, some of which are deletions.
func randomEntries(rng *rand.Rand, n int, order table.Comparer) (entries []entry) {
	internal := table.InternalComparer(order)
	one, highest := rng.IntN(2) == 0, uint64(1)<<rng.IntN(50)
	for range n {
		user := fmt.Appendf(nil, "%0*d", rng.IntN(30), rng.IntN(3*n))
		for range 1 + rng.IntN(3) {
			e := entry{internalkey.Key{UserKey: user, Kind: internalkey.Set}, bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(300))}
			if !one {
				e.Sequence = rng.Uint64N(highest)
			}
			if !one && rng.IntN(3) == 0 {
				e.Kind, e.value = internalkey.Delete, nil
			}
			entries = append(entries, e)
		}
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(internal.Compare(a.Append(nil), b.Append(nil)), bytes.Compare(a.value, b.value))
	})
	return slices.CompactFunc(entries, func(a, b entry) bool { // an engine gives each number to one write only
		return bytes.Equal(a.UserKey, b.UserKey) && a.Sequence == b.Sequence
	})
}

// A judged is a database that a Writer wrote, with its expected contents.
type judged struct {
	dir   string
	order table.Comparer
	pairs map[string][]byte
	ops   []history.Op // changes to the database

	before, after []byte // the pairs before and after the ops, as an engine prints them
}

func (j *judged) write(t *testing.T, o *database.WriterOptions, entries []entry) {
	t.Helper()
	w, err := database.Create(j.dir, o)
	noError(t, err)
	defer w.Abort() // does nothing after Close
	seen := map[string]bool{}
	j.pairs = map[string][]byte{}
	for _, e := range entries {
		noError(t, w.AppendInternal(e.Key, e.value))
		if user := string(e.UserKey); !seen[user] { // the newest version comes first
			seen[user] = true
			if e.Kind == internalkey.Set {
				j.pairs[user] = e.value
			}
		}
	}
	noError(t, w.Close())
}

// dump returns the pairs as an engine prints them.
func (j *judged) dump() (out []byte) {
	inOrder := func(a, b string) int { return j.order.Compare([]byte(a), []byte(b)) }
	for _, user := range slices.SortedFunc(maps.Keys(j.pairs), inOrder) {
		out = fmt.Appendf(out, "%x\t%x\n", user, j.pairs[user])
	}
	return out
}

// change adds n random ops, which set, overwrite or delete keys.
func (j *judged) change(rng *rand.Rand, n int) {
	for range n {
		op := history.Op{Kind: history.Put, Key: fmt.Append(nil, rng.IntN(300)), Value: fmt.Append(nil, "new ", rng.IntN(1000))}
		if rng.IntN(3) == 0 {
			op.Kind, op.Value = history.Delete, nil
			delete(j.pairs, string(op.Key))
		} else {
			j.pairs[string(op.Key)] = op.Value
		}
		j.ops = append(j.ops, op)
	}
}

// byGoleveldb has goleveldb judge a copy of the database. If the order is not bytewise, compactions by goleveldb
// lose writes, even in its own databases: tFiles.getOverlaps compares keys bytewise. So it only reads such
// databases.
func (j *judged) byGoleveldb(t *testing.T) {
	t.Helper()
	ops, after := j.ops, j.after
	if j.order != table.BytewiseComparer {
		ops, after = nil, j.before
	}
	var out bytes.Buffer
	err := goleveldb.Judge(copyOf(t, j.dir), j.order, ops, &out)
	j.check(t, "goleveldb", out.Bytes(), after, err)
}

// byLevelDB has C++ LevelDB judge a copy of the database.
func (j *judged) byLevelDB(t *testing.T) {
	t.Helper()
	out, err := levelDBDatabase(t).Judge(copyOf(t, j.dir), j.order.Name(), j.ops)
	j.check(t, "C++ LevelDB", out, j.after, err)
}

// check checks the output of an engine: the pairs before the ops and after them.
func (j *judged) check(t *testing.T, engine string, out, after []byte, err error) {
	t.Helper()
	want := slices.Concat(j.before, []byte("again\n"), after)
	if err != nil || !bytes.Equal(out, want) {
		t.Errorf("%s: %v, %s", engine, err, firstDifference(want, out))
	}
}
