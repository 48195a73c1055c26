package command

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/set"
)

// tableNamed returns the name of table i.
func tableNamed(i int) string { return fmt.Sprintf("%064x.ldb", i) }

// manifestOf returns the file of a manifest of the tables.
func manifestOf(t *testing.T, tables ...int) []byte {
	t.Helper()
	m, b := new(set.Manifest), new(bytes.Buffer)
	for _, i := range tables {
		key := fmt.Appendf(nil, "%05d", i)
		m.Tables = append(m.Tables, set.Table{
			Name: tableNamed(i), Size: 100, SHA256: strings.TrimSuffix(tableNamed(i), ".ldb"), Entries: 1,
			Smallest: key, Largest: key, TailSize: 50,
		})
	}
	noError(t, set.WriteManifest(b, m))
	return b.Bytes()
}

// write writes a file into a directory.
func write(t *testing.T, dir, name string, content []byte) {
	t.Helper()
	noError(t, os.WriteFile(filepath.Join(dir, name), content, 0o666))
}

// Of random objects and manifests, those stay that a manifest lists.
func TestSweepDeletesWhatNoManifestLists(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 26))
	for range 30 {
		dir := t.TempDir()
		var want, gone []string
		listed := map[string][]int{}
		others := []string{"a.jsonl", tableNamed(99)}[:r.IntN(3)]
		all := append([]string{set.ManifestName}, others...)
		for i := range r.IntN(30) {
			write(t, dir, tableNamed(i), []byte("a table"))
			if r.IntN(2) == 0 {
				key := all[r.IntN(len(all))]
				listed[key] = append(listed[key], i)
				want = append(want, tableNamed(i))
				continue
			}
			gone = append(gone, tableNamed(i))
		}
		args := []string{"sweep", "--delete", "--age", "0s"}
		for _, key := range all {
			write(t, dir, key, manifestOf(t, listed[key]...))
			want = append(want, key)
		}
		for _, key := range others {
			args = append(args, "--manifest", key)
		}
		var out, errs bytes.Buffer
		if status := Run(append(args, "file://"+filepath.ToSlash(dir)), strings.NewReader(""), &out, &errs); status != 0 {
			t.Fatalf("exit status %d: %s", status, &errs)
		}
		var deleted, left []string
		for line := range strings.Lines(out.String()) {
			name, _, _ := strings.Cut(line, "\t")
			deleted = append(deleted, name)
		}
		files, err := os.ReadDir(dir)
		noError(t, err)
		for _, f := range files {
			left = append(left, f.Name())
		}
		slices.Sort(want)
		if diff := cmp.Diff([][]string{want, gone}, [][]string{left, deleted}); diff != "" {
			t.Fatalf("files, deleted (-want +got):\n%s", diff)
		}
	}
}

// A manifest that is written between the last look and the deletion is noticed, also if the store then
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
