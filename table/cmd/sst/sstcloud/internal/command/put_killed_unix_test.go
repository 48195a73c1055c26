//go:build unix

package command

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cloud/s3test"
	"github.com/sievetable/sievetable/table/cmd/sst/sstcloud/internal/store"
	"github.com/sievetable/sievetable/table/set"
)

// Whenever a put is killed or interrupted, the store contains the complete old or new set. Another put finishes the
// work.
func TestPutKilled(t *testing.T) {
	s3test.SetCredentials(t.Setenv)
	p := s3test.NewProxy(t)
	p.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if r.Method == http.MethodPut {
			time.Sleep(5 * time.Millisecond)
		}
		server.ServeHTTP(w, r)
	})
	r := rand.New(rand.NewPCG(26, 11))
	for _, u := range []string{s3test.BucketURL(t, p.URL), "file://" + t.TempDir()} {
		s, err := store.Open(t.Context(), u)
		noError(t, err)
		var old []string
		for round := range long.Rounds(3, 60) {
			next := []string{fmt.Sprint("round ", round)}
			dir := writeRound(t, round)
			killPut(t, r, dir, u)
			if got := values(t, s); cmp.Diff(old, got) != "" && cmp.Diff(next, got) != "" {
				t.Fatalf("after a put was killed: %q, want %q or %q", got, old, next)
			}
			if out, err := exec.Command("sstcloud", "put", dir, u).CombinedOutput(); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if diff := cmp.Diff(next, values(t, s)); diff != "" {
				t.Fatalf("after another put (-want +got):\n%s", diff)
			}
			old = next
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// writeRound writes a set with some tables. The value of each entry is the number of the round.
func writeRound(t *testing.T, round int) string {
	t.Helper()
	dir, pairs := t.TempDir(), make([]string, 12)
	for i := range pairs {
		pairs[i] = fmt.Sprintf("%03d=round %d", i, round)
	}
	_, err := writeDir(dir, slices.Chunk(pairs, 1), withBlocks)
	noError(t, err)
	return dir
}

// killPut runs put, and ends it with a signal after some time.
func killPut(t *testing.T, r *rand.Rand, dir, url string) {
	t.Helper()
	cmd := exec.Command("sstcloud", "put", "--concurrency", "2", dir, url)
	noError(t, cmd.Start())
	time.Sleep(time.Duration(20+r.IntN(150)) * time.Millisecond)
	signals := []os.Signal{syscall.SIGKILL, syscall.SIGTERM}
	if err := cmd.Process.Signal(signals[r.IntN(2)]); err != nil && !errors.Is(err, os.ErrProcessDone) {
		t.Fatal(err)
	}
	err := cmd.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() != -1 && exit.ExitCode() != 143 {
		t.Errorf("a put that was ended by a signal: %v", err)
	}
}

// values verifies the set in a store and returns its distinct values, or nil if there is no set.
func values(t *testing.T, s *store.Store) (all []string) {
	t.Helper()
	m, err := set.LoadManifest(context.Background(), s, set.ManifestName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	noError(t, err)
	var src set.Source = set.NewDir(s.Dir)
	if s.Bucket != nil {
		src = s.Bucket
	}
	opened, err := set.Open(context.Background(), m, src, nil)
	noError(t, err)
	defer opened.Close()
	noError(t, opened.Verify(context.Background(), nil))
	it := opened.NewIter(context.Background(), nil)
	defer it.Close()
	for e, err := range it.All() {
		noError(t, err)
		if v := string(e.Value); len(all) == 0 || all[len(all)-1] != v {
			all = append(all, v)
		}
	}
	return all
}
