package tabletest

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/internal/wal"
)

// Log returns a log or a MANIFEST of the records.
func Log[T string | []byte](t testing.TB, records ...T) []byte {
	t.Helper()
	var log bytes.Buffer
	w := wal.NewWriter(&log)
	for _, r := range records {
		if err := w.Append([]byte(r)); err != nil {
			t.Fatal(err)
		}
	}
	return log.Bytes()
}
