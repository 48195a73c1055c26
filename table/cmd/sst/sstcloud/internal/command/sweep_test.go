package command

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// tableNamed returns the name of table i.
func tableNamed(i int) string { return fmt.Sprintf("%064x.ldb", i) }

// manifestOf returns the contents of a manifest that lists the tables.
func manifestOf(t *testing.T, tables ...int) []byte {
	t.Helper()
	m, b := new(set.Manifest), new(bytes.Buffer)
	for _, i := range tables {
		key, sum := fmt.Appendf(nil, "%05d", i), strings.TrimSuffix(tableNamed(i), ".ldb")
		m.Tables = append(m.Tables, set.Table{
			Name: tableNamed(i), Size: 100, SHA256: sum, Entries: 1, Smallest: key, Largest: key, TailSize: 50, TailSum: sum,
		})
	}
	noError(t, set.WriteManifest(b, m))
	return b.Bytes()
}

// A sweep notices a manifest that is written between its last look and its deletions, even if the store then
// refuses to delete another table.
func TestManifestWhileDeleting(t *testing.T) {
	bucket, sets := openWorlds(t)
	for i, refused := range []string{"", tableNamed(3)} {
		w := newWorld(t, bucket, i, sets)
		put := func(key string, content []byte) {
			if err := w.bucket.WriteAll(context.Background(), key, content, nil); err != nil {
				t.Error(err)
			}
		}
		for n := range 3 {
			put(tableNamed(n+1), []byte("a table"))
		}
		put(set.ManifestName, manifestOf(t, 1))
		p, written := w.sweep(), false
		p.fault = func(rw http.ResponseWriter, r *http.Request, server http.Handler) {
			if r.Method == http.MethodDelete && !written {
				written = true
				put(set.ManifestName, manifestOf(t, 1, 2, 3))
			}
			if r.Method == http.MethodDelete && refused != "" && strings.HasSuffix(r.URL.Path, "/"+refused) {
				s3test.Refuse(http.StatusForbidden, "AccessDenied")(rw, r, server)
				return
			}
			server.ServeHTTP(rw, r)
		}
		p.run()
		if p.status != cli.ExitDamaged || !strings.Contains(p.output, "listed in a new manifest") || !strings.Contains(p.output, "upload the set again") {
			t.Errorf("%v, want that a listed table is gone", p)
		}
		if got := strings.Contains(p.output, "remove s3://") && strings.Contains(p.output, "403"); got != (refused != "") {
			t.Errorf("%v, want the refusal of %q in it", p, refused)
		}
	}
}

// In a bucket, names that differ in case are different manifests, and a note names each one that is ignored.
func TestManifestsThatDifferInCase(t *testing.T) {
	bucket, sets := openWorlds(t)
	w := newWorld(t, bucket, 0, sets)
	for name, ignored := range map[string]bool{"Set.jsonl": true, set.ManifestName: false} {
		noError(t, w.bucket.WriteAll(context.Background(), name, manifestOf(t, 1), nil))
		p := w.sweep().run()
		if p.status != 0 || strings.Contains(p.output, "/"+name+" is ignored") != ignored {
			t.Errorf("%v, want a note of %s: %t", p, name, ignored)
		}
	}
}
