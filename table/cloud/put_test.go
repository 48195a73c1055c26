package cloud_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gocloud.dev/blob"
	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/set"
)

// entries yields the keys, each with the same value.
func entries(keys [][]byte, value string) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for _, key := range keys {
			if !yield(key, []byte(value)) {
				return
			}
		}
	}
}

// emptyTemp gives the test a directory for temporary files. It must be empty in the end.
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

// wantTable writes the table itself, and returns it with its line.
func wantTable(t *testing.T, o *table.WriterOptions, keys [][]byte, value string) ([]byte, set.Table) {
	t.Helper()
	var b bytes.Buffer
	w, err := set.NewTableWriter(&b, o)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range keys {
		if err := w.Append(key, []byte(value)); err != nil {
			t.Fatal(err)
		}
	}
	line, err := w.Close()
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(b.Bytes())
	line.Name = hex.EncodeToString(sum[:]) + ".ldb"
	return b.Bytes(), line
}

// Put sends the table that a TableWriter writes, named by its contents. PutFile sends the same
// one from a file.
func TestPutNamesTablesByContents(t *testing.T) {
	keys := workload.W3(20_000).Keys
	o := &table.WriterOptions{FilterPolicy: filter.NewBloom(10)}
	contents, want := wantTable(t, o, keys, "v")
	path := filepath.Join(t.TempDir(), "urls.ldb")
	if err := os.WriteFile(path, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			emptyTemp(t)
			for _, put := range []func(*blob.Bucket) (set.Table, error){
				func(b *blob.Bucket) (set.Table, error) { return cloud.Put(t.Context(), b, o, entries(keys, "v")) },
				func(b *blob.Bucket) (set.Table, error) { return cloud.PutFile(t.Context(), b, path, nil) },
			} {
				bucket := blob.PrefixedBucket(s.bucket(t), "urls/")
				got, err := put(bucket)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v (-want +got):\n%s", err, diff)
				}
				if got, err := bucket.ReadAll(t.Context(), want.Name); err != nil || !bytes.Equal(got, contents) {
					t.Errorf("the object has %d bytes, %v, want the %d of the table", len(got), err, len(contents))
				}
				if diff := cmp.Diff(map[string]int64{want.Name: want.Size}, objects(t, bucket)); diff != "" {
					t.Errorf("objects (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// What is there already is not sent again, unless it has another size.
func TestPutAgain(t *testing.T) {
	emptyTemp(t)
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	keys := workload.W3(1000).Keys
	for _, tt := range []struct {
		name string
		puts int
	}{{"an empty bucket", 1}, {"the same object", 0}, {"a shorter object", 1}, {"the same object again", 0}} {
		line, err := cloud.Put(t.Context(), bucket, nil, entries(keys, "v"))
		if got := p.Count("PUT"); err != nil || got != tt.puts {
			t.Fatalf("%s: %d requests to put an object, %v, want %d", tt.name, got, err, tt.puts)
		}
		if size := objects(t, bucket)[line.Name]; size != line.Size {
			t.Errorf("%s: the object has %d bytes, want %d", tt.name, size, line.Size)
		}
		if tt.name == "the same object" {
			putObject(t, bucket, line.Name, "short")
			p.Count("PUT")
		}
	}
}

// The name of a table that has a filter only tells it apart.
func TestPutFilterOnly(t *testing.T) {
	emptyTemp(t)
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	o := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(10)}
	got, err := cloud.Put(t.Context(), bucket, o, entries(workload.W3(1000).Keys, ""))
	if err != nil || got.Name != got.SHA256+".filter" || got.Entries != 1000 {
		t.Errorf("%+v, %v, want 1000 entries and the extension .filter", got, err)
	}
}

// A Put that fails leaves neither an object nor a temporary file.
func TestPutRefuses(t *testing.T) {
	cause := errors.New("line 7 is damaged")
	for _, tt := range []struct {
		name  string
		o     table.WriterOptions
		seq   func(cancel context.CancelCauseFunc) iter.Seq2[[]byte, []byte]
		chain error
		text  string
	}{
		{"no entries", table.WriterOptions{}, sequence(), nil, "cloud: put a table: set: the table: entries is 0"},
		{"the wrong order", table.WriterOptions{}, sequence("b", "a"), table.ErrOrder, `"a" after "b"`},
		{"an option", table.WriterOptions{BlockSize: -1}, sequence("a"), nil, "cloud: put a table: table: BlockSize is -1"},
		{"a sequence that cannot go on", table.WriterOptions{}, func(cancel context.CancelCauseFunc) iter.Seq2[[]byte, []byte] {
			return func(yield func(key, value []byte) bool) {
				yield([]byte("a"), nil)
				cancel(cause)
			}
		}, cause, "cloud: put a table: line 7 is damaged"},
	} {
		for _, s := range stores {
			t.Run(tt.name+"/"+s.name, func(t *testing.T) {
				emptyTemp(t)
				bucket := s.bucket(t)
				putObject(t, bucket, "other", "")
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				got, err := cloud.Put(ctx, bucket, &tt.o, tt.seq(cancel))
				checkError(t, err, tt.chain, tt.text)
				if diff := cmp.Diff(set.Table{}, got); diff != "" {
					t.Errorf("the table (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(map[string]int64{"other": 0}, objects(t, bucket)); diff != "" {
					t.Errorf("objects (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// sequence returns a sequence of the keys, which does not cancel.
func sequence(keys ...string) func(context.CancelCauseFunc) iter.Seq2[[]byte, []byte] {
	var list [][]byte
	for _, key := range keys {
		list = append(list, []byte(key))
	}
	return func(context.CancelCauseFunc) iter.Seq2[[]byte, []byte] { return entries(list, "") }
}

// A context that is done while the object is sent leaves no object.
func TestPutCancelled(t *testing.T) {
	emptyTemp(t)
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	putObject(t, bucket, "other", "")
	ctx, cancel := context.WithCancel(t.Context())
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.Method == http.MethodPut {
			io.Copy(io.Discard, r.Body)
			cancel()
			<-r.Context().Done() // until the client has gone
			return
		}
		server.ServeHTTP(w, r)
	})
	_, err := cloud.Put(ctx, bucket, nil, entries(workload.W3(1000).Keys, "v"))
	checkError(t, err, context.Canceled, `cloud: put table "`)
	p.Spoil(nil)
	if diff := cmp.Diff(map[string]int64{"other": 0}, objects(t, bucket)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// A store that refuses a table is an error that names it.
func TestPutFaults(t *testing.T) {
	for _, method := range []string{http.MethodHead, http.MethodPut} {
		t.Run(method, func(t *testing.T) {
			emptyTemp(t)
			p := s3test.NewProxy(t)
			p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
				if r.Method == method {
					refuse(w, http.StatusInternalServerError, "InternalError")
					return
				}
				server.ServeHTTP(w, r)
			})
			bucket := p.Bucket(t)
			_, err := cloud.Put(t.Context(), bucket, nil, entries(workload.W3(10).Keys, "v"))
			checkError(t, err, nil, `cloud: put table "`, "500")
		})
	}
}

func TestPutFileRefuses(t *testing.T) {
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	dir := t.TempDir()
	contents, _ := wantTable(t, nil, workload.W3(1000).Keys, "v")
	contents[10] ^= 1
	damaged := filepath.Join(dir, "damaged.ldb")
	if err := os.WriteFile(damaged, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		path  string
		chain error
	}{
		"no file":     {filepath.Join(dir, "none.ldb"), fs.ErrNotExist},
		"damaged":     {damaged, table.ErrCorrupt},
		"a directory": {dir, nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := cloud.PutFile(t.Context(), bucket, tt.path, nil)
			checkError(t, err, tt.chain, "cloud: put ", tt.path)
		})
	}
	if diff := cmp.Diff(map[string]int64{}, objects(t, bucket)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}

// A file that changes after it was described is not sent under the name of what it was.
func TestPutFileChanges(t *testing.T) {
	contents, _ := wantTable(t, nil, workload.W3(1000).Keys, "v")
	path := filepath.Join(t.TempDir(), "a.ldb")
	if err := os.WriteFile(path, contents, 0o666); err != nil {
		t.Fatal(err)
	}
	p := s3test.NewProxy(t)
	bucket := p.Bucket(t)
	putObject(t, bucket, "other", "")
	contents[10] ^= 1
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.Method == http.MethodHead { // PutFile asks whether the object is there
			if err := os.WriteFile(path, contents, 0o666); err != nil {
				t.Error(err)
			}
		}
		server.ServeHTTP(w, r)
	})
	_, err := cloud.PutFile(t.Context(), bucket, path, nil)
	checkError(t, err, nil, `cloud: put table "`, "the file must not change")
	p.Spoil(nil)
	if diff := cmp.Diff(map[string]int64{"other": 0}, objects(t, bucket)); diff != "" {
		t.Errorf("objects (-want +got):\n%s", diff)
	}
}
