package cloud_test

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// largeTable returns a table of 17 MiB, which the SDK sends in parts.
func largeTable(t *testing.T) ([]byte, set.Table) {
	t.Helper()
	o := &table.WriterOptions{Compression: table.NoCompression}
	return wantTable(t, o, workload.W3(17).Keys, letters(1<<20))
}

// A large table exists once all of its parts are sent.
func TestPutInParts(t *testing.T) {
	emptyTemp(t)
	p, bucket := newProxy(t)
	contents, line := largeTable(t)
	noError(t, set.PutTable(t.Context(), newStore(bucket), line, bytes.NewReader(contents)))
	if parts := p.Count(http.MethodPut); parts != 3 {
		t.Errorf("%d parts, want 3 of 8 MiB at most", parts)
	}
	got, err := bucket.ReadAll(t.Context(), line.Name)
	if err != nil || !bytes.Equal(got, contents) {
		t.Errorf("the object has %d bytes, %v, want the %d of the table", len(got), err, line.Size)
	}
}

// If the upload is canceled after some of the parts, there is no object.
func TestPutInPartsCancelled(t *testing.T) {
	emptyTemp(t)
	contents, line := largeTable(t)
	isLast := func(r *http.Request) bool { return r.URL.Query().Get("partNumber") == "3" }
	checkCancelled(t, isLast, line, contents)
}
