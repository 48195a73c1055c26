package database_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/tabletest"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
	"github.com/sievetable/sievetable/table/internalkey"
)

var noError = errtest.NoError

// create returns a Writer of a database in the directory parent/db.
func create(t testing.TB, o *database.WriterOptions) (w *database.Writer, parent string) {
	t.Helper()
	parent = t.TempDir()
	w, err := database.Create(filepath.Join(parent, "db"), o)
	noError(t, err)
	return w, parent
}

// write writes a database of the entries, whose keys are internal keys.
func write(t testing.TB, o *database.WriterOptions, entries []workload.Pair) (dir string) {
	t.Helper()
	w, parent := create(t, o)
	for _, e := range entries {
		key, ok := internalkey.Parse(e.Key)
		if !ok {
			t.Fatalf("%q is no internal key", e.Key)
		}
		noError(t, w.AppendInternal(key, e.Value))
	}
	noError(t, w.Close())
	return filepath.Join(parent, "db")
}

// read returns the entries of a database, and checks each table's fields in its MANIFEST. All versions of a user key
// must be in one table.
func read(t testing.TB, dir string, user table.Comparer) (entries []workload.Pair, v *versions.Version) {
	t.Helper()
	v, err := versions.Read(dir)
	noError(t, err)
	for i := len(v.Tables) - 1; i >= 0; i-- { // the one with the lowest number comes last
		pairs := readTable(t, dir, user, v.Tables[i])
		entries = append(entries, pairs...)
		if n := len(v.Tables) - i; v.Tables[i].Level != 6 || v.Tables[i].Number != uint64(n)+1 {
			t.Errorf("table %d has the number %d and is on level %d, want %d and level 6", n, v.Tables[i].Number, v.Tables[i].Level, n+1)
		}
		if i > 0 && bytes.Equal(internalkey.UserKey(v.Tables[i].Largest), internalkey.UserKey(v.Tables[i-1].Smallest)) {
			t.Errorf("versions of the key %q are in two tables", v.Tables[i].Largest)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != len(v.Tables)+2 {
		t.Errorf("%d files, %v, want CURRENT, the MANIFEST and %d tables", len(files), err, len(v.Tables))
	}
	return entries, v
}

// readTable returns the entries of a table, which must be sound.
func readTable(t testing.TB, dir string, user table.Comparer, m *versions.Table) []workload.Pair {
	t.Helper()
	name := filepath.Join(dir, versions.TableName(m.Number))
	r, err := table.Open(name, &table.ReaderOptions{Comparer: table.InternalComparer(user)})
	noError(t, err)
	defer r.Close()
	if err := errors.Join(r.Verify(), r.FilterErr()); err != nil {
		t.Error(err)
	}
	pairs, err := pairsOf(r.All(nil))
	noError(t, err)
	info, err := os.Stat(name)
	if err != nil || uint64(info.Size()) != m.Size || !bytes.Equal(pairs[0].Key, m.Smallest) || !bytes.Equal(pairs[len(pairs)-1].Key, m.Largest) {
		t.Errorf("%s, %v: the MANIFEST has %d bytes, and keys from %q to %q", name, err, m.Size, m.Smallest, m.Largest)
	}
	return pairs
}

// versionsOf returns random entries of a database with several versions of many keys.
func versionsOf(n int) []workload.Pair { return workload.Versions(workload.Writes(4, n, 60)) }

// For any options, a written database can be read. Keys can have another order, which the MANIFEST names.
func TestWriter(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name    string
		keys    int
		options *database.WriterOptions
		tables  int // at least
	}{
		{"defaults", 2000, nil, 1},
		{"many tables", 2000, &database.WriterOptions{TableSize: 5000}, 10},
		{"a table for each user key", 50, &database.WriterOptions{TableSize: 1}, 50},
		{"filters", 2000, &database.WriterOptions{TableSize: 20_000, Table: table.WriterOptions{FilterPolicy: filter.NewBloom(10), TableFilterPolicy: filter.NewTableBloom(10), Properties: true}}, 3},
		{"uncompressed blocks of one entry", 2000, &database.WriterOptions{TableSize: 20_000, Table: table.WriterOptions{Compression: table.NoCompression, BlockSize: 1}}, 3},
		{"another order", 2000, &database.WriterOptions{TableSize: 5000, Table: table.WriterOptions{Comparer: backward, FilterPolicy: filter.NewBloom(10)}}, 10},
		{"several goroutines", 2000, &database.WriterOptions{TableSize: 20_000, Table: table.WriterOptions{Concurrency: 4}}, 3},
	} {
		t.Run(tt.name, func(t *testing.T) {
			entries, order := versionsOf(tt.keys), table.Comparer(table.BytewiseComparer)
			if tt.options != nil && tt.options.Table.Comparer != nil {
				order = tt.options.Table.Comparer
			}
			internal := table.InternalComparer(order)
			slices.SortFunc(entries, func(a, b workload.Pair) int { return internal.Compare(a.Key, b.Key) })
			got, v := read(t, write(t, tt.options, entries), order)
			if diff := tabletest.DiffPairs(entries, got); diff != "" {
				t.Errorf("(-written +read):\n%s", diff)
			}
			if len(v.Tables) < tt.tables || v.Comparer != order.Name() || len(namedLogs(v)) > 0 {
				t.Errorf("%d tables in the order %q, logs %v; want ≥ %d, %q and none", len(v.Tables), v.Comparer, namedLogs(v), tt.tables, order.Name())
			}
			if want := lastSequence(entries); v.LastSequence != want {
				t.Errorf("last sequence number %d, want %d", v.LastSequence, want)
			}
		})
	}
}

// namedLogs returns the logs that a MANIFEST names.
func namedLogs(v *versions.Version) []uint64 {
	_, missing := v.LiveLogs(nil)
	return missing
}

func lastSequence(entries []workload.Pair) (last uint64) {
	for _, e := range entries {
		key, _ := internalkey.Parse(e.Key)
		last = max(last, key.Sequence)
	}
	return last
}

// Append writes pairs with the sequence number 0. The empty key is valid. An empty directory becomes a database,
// even without keys.
func TestWriterAppend(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{nil, {"", "a", "a\x00", "b"}} {
		dir := t.TempDir()
		w, err := database.Create(dir, nil)
		noError(t, err)
		want := tabletest.PairsOf(keys...)
		for i, p := range want {
			noError(t, w.Append(p.Key, p.Value))
			want[i].Key = internalkey.Key{UserKey: p.Key, Kind: internalkey.Set}.Append(nil)
		}
		noError(t, w.Close())
		got, v := read(t, dir, table.BytewiseComparer)
		if diff := tabletest.DiffPairs(want, got); diff != "" || v.LastSequence != 0 {
			t.Errorf("last sequence number %d (-written +read):\n%s", v.LastSequence, diff)
		}
	}
}

// backward is an order that a DB does not know.
const backward = tabletest.Reversed("backward")

// The same entries give the same bytes, with any number of goroutines.
func TestWriterMakesTheSameBytes(t *testing.T) {
	t.Parallel()
	entries := versionsOf(3000)
	contents := func(concurrency int) map[string]string {
		dir := write(t, &database.WriterOptions{TableSize: 30_000, Table: table.WriterOptions{Concurrency: concurrency, FilterPolicy: filter.NewBloom(10)}}, entries)
		files, err := filepath.Glob(filepath.Join(dir, "*"))
		noError(t, err)
		all := map[string]string{}
		for _, f := range files {
			b, err := os.ReadFile(f)
			noError(t, err)
			all[filepath.Base(f)] = string(b)
		}
		return all
	}
	want := contents(1)
	for _, concurrency := range []int{1, 2, 8} {
		if got := contents(concurrency); len(got) < 5 || !cmp.Equal(want, got) {
			t.Errorf("%d goroutines: %d files with other bytes than the %d of one", concurrency, len(got), len(want))
		}
	}
}

// Tables have about the requested size, however well their pairs compress, and even if that changes.
func TestTableSize(t *testing.T) {
	t.Parallel()
	const size = 16 << 10
	rng := rand.New(rand.NewPCG(3, 3))
	var entries []workload.Pair
	for i := range 40_000 {
		value := make([]byte, 100)
		for n := range rng.IntN(1 + 100*(i/10_000)/3) { // each part is less compressible
			value[n] = byte(rng.Uint32())
		}
		key := internalkey.Key{UserKey: fmt.Appendf(nil, "key%06d", i), Sequence: 1, Kind: internalkey.Set}
		entries = append(entries, workload.Pair{Key: key.Append(nil), Value: value})
	}
	_, v := read(t, write(t, &database.WriterOptions{TableSize: size}, entries), table.BytewiseComparer)
	near := 0
	for _, m := range v.Tables {
		if m.Size > 4*size {
			t.Errorf("table %d has %d bytes, want about %d", m.Number, m.Size, size)
		}
		if m.Size > size*9/10 && m.Size < size*11/10 {
			near++
		}
	}
	if near < len(v.Tables)*8/10 {
		t.Errorf("%d of %d tables have about %d bytes, want most of them", near, len(v.Tables), size)
	}
}
