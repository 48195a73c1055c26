package tabletest

import (
	"bytes"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/wal"
)

// Log returns a log or a MANIFEST with these records.
func Log[T string | []byte](t testing.TB, records ...T) []byte {
	t.Helper()
	var log bytes.Buffer
	w := wal.NewWriter(&log)
	for _, r := range records {
		errtest.NoError(t, w.Append([]byte(r)))
	}
	return log.Bytes()
}
