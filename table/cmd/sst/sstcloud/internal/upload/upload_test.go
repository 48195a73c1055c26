package upload

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"gocloud.dev/blob/memblob"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

var noError = errtest.NoError

// oldFiles is a Store whose files are a day old. It records which files are opened, and how many bytes are read.
type oldFiles struct {
	set.Store
	opened []string
	read   int
}

func (s *oldFiles) List(ctx context.Context) ([]set.File, error) {
	all, err := s.Store.List(ctx)
	for i := range all {
		all[i].Modified = time.Now().Add(-24 * time.Hour)
	}
	return all, err
}

func (s *oldFiles) Open(ctx context.Context, name string) (io.ReadCloser, error) {
	f, err := s.Store.Open(ctx, name)
	s.opened = append(s.opened, name)
	return readCounter{f, s}, err
}

type readCounter struct {
	io.ReadCloser
	s *oldFiles
}

func (c readCounter) Read(p []byte) (n int, err error) {
	n, err = c.ReadCloser.Read(p)
	c.s.read += n
	return n, err
}

// writeA writes a set with the key a, and returns its directory.
func writeA(t *testing.T) (dir string) {
	dir = t.TempDir()
	b, err := set.NewBuilder(t.Context(), &set.DirStore{Dir: dir}, nil)
	noError(t, err)
	noError(t, b.Append([]byte("a"), nil))
	_, err = b.Commit()
	noError(t, err)
	return dir
}

// Only the start is read of another program's file that ends in .jsonl, such as a log. Tables of other manifests
// are not missing.
func TestOtherManifests(t *testing.T) {
	t.Parallel()
	dir := writeA(t)
	bucket := memblob.OpenBucket(nil)
	defer bucket.Close()
	for _, to := range []set.Store{&set.DirStore{Dir: t.TempDir()}, &cloud.Store{Bucket: bucket}} {
		s := &oldFiles{Store: to}
		u, err := Plan(t.Context(), dir, s, "day.jsonl")
		noError(t, err)
		noError(t, u.Send(t.Context(), 1, func(set.Table) {}))
		noError(t, s.Put(t.Context(), "log.jsonl", []byte(strings.Repeat(`{"level":"info"}`+"\n", 100_000))))
		noError(t, s.Put(t.Context(), "empty.jsonl", nil))
		s.opened, s.read = nil, 0
		if u, err = Plan(t.Context(), dir, s, set.ManifestName); err != nil || len(u.Missing) > 0 {
			t.Errorf("%v, missing: %v", err, u.Missing)
		}
		if s.read > 100_000 || !slices.Contains(s.opened, "day.jsonl") {
			t.Errorf("%d bytes read of %q", s.read, s.opened)
		}
	}
}

// hiding is a Store that omits its tables from some lists.
type hiding struct {
	set.Store
	lists int
	hides func(list int) bool
}

func (s *hiding) List(ctx context.Context) ([]set.File, error) {
	all, err := s.Store.List(ctx)
	if s.lists++; s.hides(s.lists) {
		all = slices.DeleteFunc(all, func(f set.File) bool { return strings.HasSuffix(f.Name, ".ldb") })
	}
	return all, err
}

// Send uploads tables again that are deleted meanwhile. If that keeps happening, it gives up, even if all tables
// are stored at its last look.
func TestTablesAreDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	dir := writeA(t)
	const givesUp = "set.jsonl: tables were deleted during the upload, 3 times: stop the sweep"
	for name, test := range map[string]struct {
		hides func(list int) bool
		want  string // "" for no error
	}{
		"once":                   {func(list int) bool { return list == 2 }, ""},
		"always":                 {func(int) bool { return true }, givesUp},
		"whenever Publish looks": {func(list int) bool { return list%3 == 0 }, givesUp},
	} {
		to := &hiding{Store: &set.DirStore{Dir: t.TempDir()}, hides: test.hides}
		u, err := Plan(t.Context(), dir, to, set.ManifestName)
		noError(t, err)
		err = u.Send(t.Context(), 1, func(set.Table) {})
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("tables are deleted %s: %v, want %q", name, err, test.want)
		}
	}
}
