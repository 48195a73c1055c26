// Package filetest writes the files that tests of several packages read.
package filetest

import (
	"bytes"
	"errors"
	"testing"

	"github.com/syndtr/goleveldb/leveldb/journal"

	"github.com/sievetable/sievetable/table"
)

// Log returns a log of the records, as goleveldb writes it.
func Log(t *testing.T, records ...string) []byte {
	t.Helper()
	var out bytes.Buffer
	w := journal.NewWriter(&out)
	for _, r := range records {
		record, err := w.Next()
		if err == nil {
			_, err = record.Write([]byte(r))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// Deletion returns a batch that deletes a key.
func Deletion(sequence byte) string {
	return string(sequence) + "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01a"
}

// WriteTable writes a table of keys, each of which is its own value.
func WriteTable(t *testing.T, path string, o table.WriterOptions, keys ...string) {
	t.Helper()
	w, err := table.Create(path, &o)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		err = errors.Join(err, w.Append([]byte(key), []byte(key)))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
}

// FoldingComparer takes letters of both cases for the same.
type FoldingComparer struct{ table.Comparer }

func (FoldingComparer) Compare(a, b []byte) int {
	return bytes.Compare(bytes.ToLower(a), bytes.ToLower(b))
}

func (FoldingComparer) Separator(_, _, _ []byte) []byte { return nil }
func (FoldingComparer) Successor(_, _ []byte) []byte    { return nil }

// MayContain is r.MayContain, and true after an error.
func MayContain(r *table.Reader, key []byte) bool {
	may, err := r.MayContain(key)
	return may || err != nil
}
