package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"gocloud.dev/blob"

	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// emptyTemp gives the test a directory for temporary files, which must be empty at the end.
func emptyTemp(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir) // on Windows
	t.Cleanup(func() {
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("temporary files are left: %v, %v", left, err)
		}
	})
}

// wantTable writes a table of the keys, each with the same value, and returns it and its line.
func wantTable(t testing.TB, o *table.WriterOptions, keys [][]byte, value string) ([]byte, set.Table) {
	t.Helper()
	var b bytes.Buffer
	w, err := set.NewTableWriter(&b, o)
	noError(t, err)
	for _, key := range keys {
		noError(t, w.Append(key, []byte(value)))
	}
	line, err := w.Close()
	noError(t, err)
	line.Name = line.SHA256 + ".ldb"
	return b.Bytes(), line
}

// A Builder writes a set into a bucket. Nothing else remains there, nor in temporary files.
func TestBuilder(t *testing.T) {
	urls := workload.W3(20_000)
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			emptyTemp(t)
			bucket := blob.PrefixedBucket(s.bucket(t), "urls/")
			for _, value := range []string{"v1", "v2"} {
				l, err := build(t.Context(), newStore(bucket), urls.Keys, value)
				if err != nil || len(l.Tables) != 4 {
					t.Fatalf("%d tables, %v, want 4", len(l.Tables), err)
				}
				checkLookups(t, openSet(t, bucket, newStore(bucket), eager), urls, value)
			}
			noError(t, set.Sweep(t.Context(), newStore(bucket), &set.SweepOptions{AnyAge: true}))
			m, err := set.LoadManifest(t.Context(), newStore(bucket), set.ManifestName)
			noError(t, err)
			got := objects(t, bucket)
			want := map[string]int64{set.ManifestName: got[set.ManifestName]}
			for table := range m.All() {
				want[table.Name] = table.Size
			}
			checkDiff(t, "objects", want, got)
		})
	}
}

// build writes a set of the keys, each with the same value, in 4 tables.
func build(ctx context.Context, s set.Store, keys [][]byte, value string) (l set.Layer, err error) {
	b, err := set.NewBuilder(ctx, s, &set.BuilderOptions{EntriesPerTable: (len(keys) + 3) / 4, Writer: blockFilters})
	if err != nil {
		return l, err
	}
	defer func() { err = errors.Join(err, b.Abort()) }()
	for _, key := range keys {
		if err := b.Append(key, []byte(value)); err != nil {
			return l, err
		}
	}
	return b.Commit()
}

// An existing table is not sent again, unless its size differs.
func TestBuildAgain(t *testing.T) {
	emptyTemp(t)
	p, bucket := newProxy(t)
	keys := workload.W3(1000).Keys
	const others = 1 // the lease
	for _, tt := range []struct {
		name string
		puts int
	}{{"an empty bucket", 4 + 1}, {"the same objects", 0}, {"a shorter object", 1}, {"the same objects again", 0}} {
		l, err := build(t.Context(), newStore(bucket), keys, "v")
		if got := p.Count("PUT"); err != nil || got != tt.puts+others {
			t.Fatalf("%s: %d requests to put an object, %v, want %d", tt.name, got, err, tt.puts+others)
		}
		line := l.Tables[0]
		if size := objects(t, bucket)[line.Name]; size != line.Size {
			t.Errorf("%s: the object has %d bytes, want %d", tt.name, size, line.Size)
		}
		if tt.name == "the same objects" {
			putObject(t, bucket, line.Name, "short")
			p.Count("PUT")
		}
	}
}

// If a table fails, no object is left.
func TestPutTableRefuses(t *testing.T) {
	contents, line := wantTable(t, nil, workload.W3(1000).Keys, "v")
	failed := errors.New("failed")
	damaged := bytes.Clone(contents)
	damaged[10] ^= 1
	for name, tt := range map[string]struct {
		r     io.Reader
		chain error
	}{
		"other bytes": {bytes.NewReader(damaged), set.ErrMismatch},
		"too short":   {bytes.NewReader(contents[:len(contents)-1]), set.ErrMismatch},
		"an error":    {io.MultiReader(bytes.NewReader(contents), iotest.ErrReader(failed)), failed},
	} {
		for _, s := range stores {
			t.Run(name+"/"+s.name, func(t *testing.T) {
				bucket := s.bucket(t)
				putObject(t, bucket, line.Name, "before")
				checkError(t, set.PutTable(t.Context(), newStore(bucket), line, tt.r), tt.chain)
				checkDiff(t, "objects", map[string]int64{line.Name: 6}, objects(t, bucket))
			})
		}
	}
}

// If the context is done while an object is sent, no object is left.
func TestPutTableCancelled(t *testing.T) {
	contents, line := wantTable(t, nil, workload.W3(1000).Keys, "v")
	isPut := func(r *http.Request) bool { return r.Method == http.MethodPut }
	checkCancelled(t, isPut, line, contents)
}

// checkCancelled cancels a PutTable while it waits for the response to one of its requests, and checks that there is no
// object.
func checkCancelled(t *testing.T, isOne func(*http.Request) bool, line set.Table, contents []byte) {
	t.Helper()
	p, bucket := newProxy(t)
	putObject(t, bucket, "other", "")
	ctx, cancel := context.WithCancel(t.Context())
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if isOne(r) {
			io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done() // until the client has gone
			return
		}
		server.ServeHTTP(w, r)
	})
	checkError(t, set.PutTable(ctx, newStore(bucket), line, bytes.NewReader(contents)), context.Canceled)
	p.Spoil(nil)
	checkDiff(t, "objects", map[string]int64{"other": 0}, objects(t, bucket))
}

// If a store refuses a request, the build fails and the old set stays. No temporary file is left.
func TestBuildFaults(t *testing.T) {
	emptyTemp(t)
	p, bucket := newProxy(t)
	keys := workload.W3(10).Keys
	_, err := build(t.Context(), newStore(bucket), keys, "v1")
	noError(t, err)
	for _, fault := range []struct{ method, object string }{
		{http.MethodPut, ".ldb"}, {http.MethodPut, ".jsonl"}, {http.MethodPut, ".lease"}, {http.MethodGet, ".jsonl"},
	} {
		p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
			if r.Method == fault.method && strings.HasSuffix(r.URL.Path, fault.object) {
				internalError(w, r, server)
				return
			}
			server.ServeHTTP(w, r)
		})
		_, err := build(t.Context(), newStore(bucket), keys, "v2")
		checkError(t, err, nil, "500", "store/", fault.object)
		p.Spoil(nil)
		checkLookups(t, openSet(t, bucket, newStore(bucket), eager), workload.W3(10), "v1")
	}
}

// If many programs replace a manifest at once, each replaces only the one that it has read.
func TestReplaceAtOnce(t *testing.T) {
	bucket := s3test.Open(t, s3test.Server())
	putObject(t, bucket, "a", "0 by 0")
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			s := newStore(bucket)
			for added := 0; added < 5; {
				old := readObject(t, s, "a")
				var n, by int
				_, err := fmt.Sscanf(old, "%d by %d", &n, &by)
				if err == nil {
					err = s.Replace(t.Context(), "a", []byte(old), fmt.Appendf(nil, "%d by %d", n+1, i))
				}
				if err == nil {
					added++
				} else if !errors.Is(err, set.ErrChanged) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	if got := readObject(t, newStore(bucket), "a"); !strings.HasPrefix(got, "40 ") {
		t.Errorf("%s, want 40", got)
	}
}

// An object is replaced only if it has the given content, even if that was read long ago.
func TestReplaceRefuses(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			store := newStore(bucket)
			if err := store.Replace(t.Context(), "a", []byte("0"), []byte("1")); !errors.Is(err, set.ErrChanged) {
				t.Errorf("there is no object: %v, want ErrChanged", err)
			}
			if err := store.Replace(t.Context(), "a", nil, []byte("1")); err != nil {
				t.Error(err)
			}
			for _, old := range [][]byte{nil, []byte("0")} {
				if err := store.Replace(t.Context(), "a", old, []byte("2")); !errors.Is(err, set.ErrChanged) {
					t.Errorf("%q in the place of 1: %v, want ErrChanged", old, err)
				}
			}
			if got := readObject(t, store, "a"); got != "1" {
				t.Errorf("%s, want 1", got)
			}
			putObject(t, bucket, "a", "3")
			if err := store.Replace(t.Context(), "a", []byte("1"), []byte("2")); !errors.Is(err, set.ErrChanged) {
				t.Errorf("3 in the place of 1 since it was read: %v, want ErrChanged", err)
			}
		})
	}
}

func readObject(t *testing.T, s set.Store, name string) string {
	t.Helper()
	r, err := s.Open(t.Context(), name)
	if err != nil {
		t.Error(err)
		return ""
	}
	content, err := io.ReadAll(r)
	if err = errors.Join(err, r.Close()); err != nil {
		t.Error(err)
	}
	return string(content)
}

// If a driver ignores the context and succeeds, Remove returns nil.
func TestRemoveWithADoneContext(t *testing.T) {
	bucket := stores[0].bucket(t) // in memory
	putObject(t, bucket, "a", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	noError(t, newStore(bucket).Remove(ctx, "a"))
	checkDiff(t, "objects", map[string]int64{}, objects(t, bucket))
}
