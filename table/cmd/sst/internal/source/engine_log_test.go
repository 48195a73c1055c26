package source_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/syndtr/goleveldb/leveldb"
	"github.com/syndtr/goleveldb/leveldb/journal"

	"github.com/sievetable/sievetable/internal/wal"
)

// goleveldb's own log, with its deletions.
func TestWritesOfGoleveldb(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	db, err := leveldb.OpenFile(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	batch := new(leveldb.Batch)
	batch.Put([]byte("ada"), []byte("lovelace"))
	batch.Delete([]byte("grace"))
	batch.Put(nil, nil)
	if err := errors.Join(db.Put([]byte("ken"), []byte("thompson"), nil), db.Write(batch, nil), db.Close()); err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil || len(names) != 1 {
		t.Fatalf("%v, %v; want one log", names, err)
	}
	log, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	r := wal.NewReader(bytes.NewReader(log), func(d wal.Damage) { t.Error(d) })
	for record, _, err := r.Next(); err != io.EOF; record, _, err = r.Next() {
		if err != nil {
			t.Fatal(err)
		}
		for w, err := range wal.Writes(record) {
			got = append(got, fmt.Sprintf("%d %d %q=%q %v", w.Sequence, w.Kind, w.UserKey, w.Value, err))
		}
	}
	want := []string{`1 1 "ken"="thompson" <nil>`, `2 1 "ada"="lovelace" <nil>`, `3 0 "grace"="" <nil>`, `4 1 ""="" <nil>`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// goleveldb writes the same bytes for the same records.
func TestLogIsThatOfGoleveldb(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 32))
		var ours, theirs bytes.Buffer
		w, j := wal.NewWriter(&ours), journal.NewWriter(&theirs)
		for range rng.IntN(20) {
			record := bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(1<<rng.IntN(17)))
			next, err := j.Next()
			if err == nil {
				_, err = next.Write(record)
			}
			if err := errors.Join(err, w.Append(record)); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(ours.Bytes(), theirs.Bytes()) {
			t.Errorf("seed %d: %d bytes differ from goleveldb's %d", seed, ours.Len(), theirs.Len())
		}
	}
}
