package set_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"maps"
	"slices"
	"testing"
	"testing/iotest"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A manifest whose tables exist is written, and can be replaced. If there is neither a lock nor conditional writes,
// a lease protects it meanwhile.
func TestPublishManifest(t *testing.T) {
	t.Parallel()
	m := &set.Manifest{
		Tables: []set.Table{tableNumber(1)}, Layers: []set.Layer{{Tables: []set.Table{tableNumber(2)}, Removals: []set.Table{tableNumber(3)}}},
	}
	changing := newChangingStore(t)
	for _, s := range []set.Store{changing, newChangingStore(t).memoryStore} {
		refused := errors.New("refused")
		refuse := func(old *set.Manifest) error {
			if old == nil || len(old.Tables) != 1 {
				t.Errorf("the old manifest is %v", old)
			}
			return refused
		}
		checkError(t, "PublishManifest", set.PublishManifest(t.Context(), s, "other.jsonl", m, refuse), refused, "")
		for range 2 {
			noError(t, set.PublishManifest(t.Context(), s, "other.jsonl", m, nil))
		}
		f, err := s.Open(t.Context(), "other.jsonl")
		noError(t, err)
		if got, err := set.ReadManifest(f); err != nil || len(slices.Collect(got.All())) != 3 {
			t.Errorf("%v, %v, want three tables", got, err)
		}
		if files, err := s.List(t.Context()); len(files) != 5 {
			t.Errorf("files %v, %v, want no lease", files, err)
		}
	}
}

// A missing table is an error: before the manifest is written or, for a Replacer, afterwards, unless the manifest
// has been replaced by then with one that does not list it. Another try fails in the same way.
func TestPublishManifestOfMissingTables(t *testing.T) {
	t.Parallel()
	m := &set.Manifest{Tables: []set.Table{tableNumber(2)}}
	s := newChangingStore(t)
	delete(s.files, tableNumber(2).Name)
	old := s.files[set.ManifestName].content
	checkError(t, "PublishManifest", set.PublishManifest(t.Context(), s.memoryStore, set.ManifestName, m, nil), set.ErrMissing, "")
	if !bytes.Equal(old, s.files[set.ManifestName].content) {
		t.Error("the manifest is replaced")
	}
	for range 2 {
		err := set.PublishManifest(t.Context(), s, set.ManifestName, m, nil)
		checkError(t, "PublishManifest", err, set.ErrGone, "")
		checkError(t, "PublishManifest", err, table.ErrCorrupt, "")
	}
	s.list(t, set.ManifestName, 1)
	s.listed = func() { s.list(t, set.ManifestName, 3) }
	if err := set.PublishManifest(t.Context(), s, set.ManifestName, m, nil); err != nil {
		t.Errorf("another program has replaced the manifest: %v", err)
	}
	s.list(t, set.ManifestName, 1)
	s.listed = func() { s.list(t, set.ManifestName, 2, 3) } // such as by a layer
	checkError(t, "PublishManifest", set.PublishManifest(t.Context(), s, set.ManifestName, m, nil), set.ErrGone, "")
}

// A table is stored only if its bytes match its line.
func TestPutTable(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte("a table"))
	line := set.Table{Name: "a.ldb", Size: 7, SHA256: hex.EncodeToString(sum[:])}
	failed := errors.New("failed")
	s := newMemoryStore()
	for _, tt := range []struct {
		r    io.Reader
		want error
	}{
		{bytes.NewReader([]byte("a tablf")), set.ErrMismatch},
		{bytes.NewReader([]byte("a tabl")), set.ErrMismatch},
		{bytes.NewReader([]byte("a table.")), set.ErrMismatch},
		{io.MultiReader(bytes.NewReader([]byte("a table")), iotest.ErrReader(failed)), failed},
	} {
		checkError(t, "PutTable", set.PutTable(t.Context(), s, line, tt.r), tt.want, "")
	}
	manifest := line
	manifest.Name = set.ManifestName
	err := set.PutTable(t.Context(), s, manifest, bytes.NewReader([]byte("a table")))
	checkError(t, "PutTable", err, nil, "reserved for the manifest")
	if len(s.files) > 0 {
		t.Errorf("files %q are stored", slices.Collect(maps.Keys(s.files)))
	}
	noError(t, set.PutTable(t.Context(), s, line, iotest.OneByteReader(bytes.NewReader([]byte("a table")))))
	if got := string(s.files["a.ldb"].content); got != "a table" {
		t.Errorf("the file has %q", got)
	}
}
