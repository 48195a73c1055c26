package database

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/internal/versions"
)

// If there are more tables, or longer keys, than a readable MANIFEST can list, the error says what to do.
func TestWriterLimits(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		set  func(w *Writer)
		want string
	}{
		{"tables", func(w *Writer) { w.tables = versions.MaxTables - 1 }, "database: more than 1048576 tables: use a larger TableSize than 1"},
		{"their keys", func(w *Writer) { w.added = make([]byte, maxAdded-10, maxAdded+100) }, "database: the MANIFEST would have 268173326 bytes for 1 table, more than 268173312: use a larger TableSize than 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w, err := Create(filepath.Join(t.TempDir(), "db"), &WriterOptions{TableSize: 1})
			errtest.NoError(t, err)
			defer w.Abort()
			tt.set(w)
			errtest.NoError(t, w.Append([]byte("a"), nil))
			if err := w.Append([]byte("b"), nil); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("Append = %v, want %s", err, tt.want)
			}
		})
	}
}
