package codecs_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/codecs"
	"github.com/sievetable/sievetable/table/database"
)

// A database whose tables are compressed by any codec can be opened with All, and not without.
func TestDatabase(t *testing.T) {
	t.Parallel()
	for _, codec := range []table.Codec{codecs.Zstd, codecs.Zlib, codecs.Deflate} {
		dir := filepath.Join(t.TempDir(), "db")
		w, err := database.Create(dir, &database.WriterOptions{Table: table.WriterOptions{Compression: codec}})
		errtest.NoError(t, err)
		value := make([]byte, 1000)
		errtest.NoError(t, errors.Join(w.Append([]byte("key"), value), w.Close()))
		for _, o := range []*database.Options{nil, {Reader: table.ReaderOptions{Codecs: codecs.All()}}} {
			var got []byte
			db, err := database.Open(dir, o)
			if err == nil {
				got, err = db.Get([]byte("key"))
				err = errors.Join(err, db.Close())
			}
			if o == nil && err == nil || o != nil && (err != nil || string(got) != string(value)) {
				t.Errorf("%T, options %v: %d bytes, %v", codec, o, len(got), err)
			}
		}
	}
}
