package setio

import (
	"context"
	"errors"
	"io"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/memfs"

	"github.com/sievetable/sievetable/table/set"
)

var errFull = errors.New("no room")

// full is memfs without room for tables: a write fails after some bytes.
type full struct{ filesystem.Interface }

func (f full) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	lastWrite = ctx
	w, err := f.Interface.OpenWrite(ctx, name)
	if strings.HasSuffix(name, tableExt) {
		w = fullWriter{w}
	}
	return w, err
}

type fullWriter struct{ io.WriteCloser }

func (w fullWriter) Write(p []byte) (int, error) {
	n, _ := w.WriteCloser.Write(p[:len(p)/2]) // never fails
	return n, errFull
}

func init() {
	filesystem.Register("full", func(ctx context.Context) filesystem.Interface { return full{memfs.New(ctx)} })
}

// lastWrite is the context of the last write to full.
var lastWrite context.Context

// If a table cannot be sent, the error names it. Nothing of it is left, neither in the file system nor on the
// worker's disk: the write's context ends, so that the file system stops sending.
func TestRemoteTableThatCannotBeWritten(t *testing.T) {
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	t.Setenv("TMP", temporary) // on Windows
	fn := &writeTable{targetOf("full://set")}
	err := fn.ProcessElement(t.Context(), 7, each(piecesOf(t, 2)), func([]byte) { t.Error("a table is written") }, dropCount)
	if !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "setio: table 7: write full://set/000007-") {
		t.Errorf("error %v, want one that names the table", err)
	}
	if lastWrite.Err() == nil {
		t.Error("the context of the write has not ended")
	}
	err = withStore(t.Context(), "full://set", func(st set.Store) error {
		files, err := st.List(t.Context())
		if len(files) != 1 || files[0].Name != testLease {
			t.Errorf("files %v, want only the lease", files)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	if files, err := os.ReadDir(temporary); err != nil || len(files) > 0 {
		t.Errorf("temporary files %v, error %v, want none", files, err)
	}
}

// strict is memfs, except that removing a missing file is an error, as in Google's store.
type strict struct{ filesystem.Interface }

func (s strict) Remove(ctx context.Context, name string) error {
	if found, err := s.List(ctx, name); err != nil || len(found) == 0 {
		return errors.Join(err, errors.New("object doesn't exist"))
	}
	return s.Interface.(filesystem.Remover).Remove(ctx, "memfs://"+name) // memfs's own names
}

func init() {
	filesystem.Register("strict", func(ctx context.Context) filesystem.Interface { return strict{memfs.New(ctx)} })
}

// The last step may run twice. The second time, it finds the manifest written and the lease removed.
func TestFinishTwice(t *testing.T) {
	to, line := targetOf("strict://twice"), []byte(nil)
	w := &writeTable{to}
	noError(t, w.ProcessElement(t.Context(), 1, each(piecesOf(t, 2)), func(b []byte) { line = b }, dropCount))
	for range 2 {
		fn := &finish{Target: to}
		noError(t, fn.ProcessElement(t.Context(), nil, each(piecesOf(t, 1)), eachCount(nil), each([]piece{line}), func(string) {}))
	}
}

// If the last step runs again after another build has added a layer, it does not add its own layer on top of that one.
func TestFinishAgainBelowANewerLayer(t *testing.T) {
	for _, dir := range []string{t.TempDir(), "strict://layers"} {
		var steps []func()
		for i := range 3 {
			to, line := target{Dir: dir, Lease: set.NewLease(), Layer: i > 0}, []byte(nil)
			w := &writeTable{to}
			noError(t, w.ProcessElement(t.Context(), 1, each(piecesOf(t, 1+i)), func(b []byte) { line = b }, dropCount))
			steps = append(steps, func() {
				fn := &finish{Target: to}
				noError(t, fn.ProcessElement(t.Context(), nil, each(piecesOf(t, 1)), eachCount(nil), each([]piece{line}), func(string) {}))
			})
			steps[i]()
		}
		steps[1]()
		steps[0]()
		err := withStore(t.Context(), dir, func(st set.Store) error {
			m, err := set.LoadManifest(t.Context(), st, set.ManifestName)
			if err == nil && (len(m.Layers) != 2 || m.Layers[1].Tables[0].Entries <= m.Layers[0].Tables[0].Entries) {
				t.Errorf("%s: layers %v, want two, the newer one on top", dir, m.Layers)
			}
			return err
		})
		noError(t, err)
	}
}

// A recorder is memfs that records the extensions of written files.
type recorder struct {
	filesystem.Interface
	names *[]string
}

func (r recorder) OpenWrite(ctx context.Context, name string) (io.WriteCloser, error) {
	*r.names = append(*r.names, path.Ext(name))
	return r.Interface.OpenWrite(ctx, name)
}

// A renaming is a recorder that can rename.
type renaming struct{ recorder }

func (r renaming) Rename(ctx context.Context, from, to string) error {
	return r.Interface.(filesystem.Renamer).Rename(ctx, from, to)
}

// If files can be renamed, a file has a temporary name until it is complete. In an object store, renaming would copy
// the object, which appears complete anyway.
func TestTemporaryNames(t *testing.T) {
	for name, test := range map[string]struct {
		dir     string
		renames bool
		want    string
	}{
		"renames":        {"memfs://put", true, ".tmp"},
		"cannot rename":  {"memfs://put", false, ".jsonl"},
		"Google's store": {"gs://put", true, ".jsonl"},
		"S3":             {"s3://put", false, ".jsonl"},
	} {
		t.Run(name, func(t *testing.T) {
			var names []string
			r := recorder{memfs.New(t.Context()), &names}
			st := &remoteStore{r, test.dir}
			if test.renames {
				st.files = renaming{r}
			}
			noError(t, st.Put(t.Context(), set.ManifestName, []byte(name)))
			if len(names) != 1 || names[0] != test.want {
				t.Errorf("files %q are written, want one with %s", names, test.want)
			}
			content, err := filesystem.Read(t.Context(), st.files, st.Path(set.ManifestName))
			if err != nil || string(content) != name {
				t.Errorf("content %q, error %v, want %q", content, err, name)
			}
		})
	}
}
