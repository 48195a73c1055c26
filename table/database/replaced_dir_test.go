package database_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// If another directory takes the name of dir while Open reads it, the DB does not mix the two.
func TestOpenOfADirectoryThatIsRenamed(t *testing.T) {
	t.Parallel()
	for seed := range 50 {
		parent := t.TempDir()
		dir, other := filepath.Join(parent, "db"), filepath.Join(parent, "b")
		writeSame(t, dir, 'a')
		writeSame(t, other, 'b')
		var renamed sync.WaitGroup
		renamed.Go(func() {
			time.Sleep(time.Duration(seed) * 20 * time.Microsecond)
			if err := errors.Join(os.Rename(dir, filepath.Join(parent, "old")), os.Rename(other, dir)); err != nil {
				t.Log(err) // Windows does not rename directories with open files
			}
		})
		db, err := database.Open(dir, nil)
		renamed.Wait()
		if errors.Is(err, fs.ErrNotExist) {
			continue // between the two renames
		}
		noError(t, err)
		checkSame(t, db)
	}
}

// writeSame writes a database of several tables, whose files have the same sizes and keys for any value.
func writeSame(t *testing.T, dir string, value byte) {
	t.Helper()
	w, err := database.Create(dir, &database.WriterOptions{TableSize: 2000, Table: table.WriterOptions{Compression: table.NoCompression}})
	noError(t, err)
	for i := range 500 {
		noError(t, w.Append(fmt.Appendf(nil, "key%06d", i), bytes.Repeat([]byte{value}, 50)))
	}
	noError(t, w.Close())
}

// checkSame checks that all values of the database are the same, and closes it.
func checkSame(t *testing.T, db *database.DB) {
	t.Helper()
	defer db.Close()
	var first []byte
	for e, err := range db.All(nil) {
		noError(t, err)
		if first == nil {
			first = bytes.Clone(e.Value)
		}
		if !bytes.Equal(e.Value, first) {
			t.Fatalf("%s has the value %q, and others %q", e.Key, e.Value, first)
		}
	}
}
