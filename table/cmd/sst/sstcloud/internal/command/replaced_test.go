package command

import (
	"bytes"
	"context"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/table/cloud/s3test"
)

// If a table is replaced while it is scanned, the entries read before are printed, and the rest is a loss. No line
// comes from the new object.
func TestReplacedWhileScanned(t *testing.T) {
	t.Parallel()
	proxy := s3test.NewProxy(t)
	bucket := s3test.Open(t, s3test.Server())
	dir, _ := makeLargeSet(t, 200_000)
	sendFiles(t, bucket, dir)
	var reads atomic.Int64
	proxy.Spoil(func(w http.ResponseWriter, r *http.Request, server http.Handler) {
		if key := path.Base(r.URL.Path); path.Ext(key) == ".ldb" && reads.Add(1) == 3 {
			if err := bucket.WriteAll(context.Background(), key, bytes.Repeat([]byte("other"), 2e6), nil); err != nil {
				t.Error(err)
			}
		}
		server.ServeHTTP(w, r)
	})
	var out, errs bytes.Buffer
	cmd := process("sstcloud", "scan", s3test.BucketURL(t, proxy.URL))
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	whole, localErr := process("sst", "scan", dir).Output()
	noError(t, localErr)
	n := bytes.Count(out.Bytes(), []byte("\n"))
	if cmd.ProcessState.ExitCode() != 3 || !bytes.HasPrefix(whole, out.Bytes()) || n < 50_000 || n == 200_000 {
		t.Errorf("%v, %d lines of the first object: %t", err, n, bytes.HasPrefix(whole, out.Bytes()))
	}
	for _, want := range []string{"changed while it was read", "size is 10000000, but "} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("%q is not in %s", want, &errs)
		}
	}
	if tables, err := filepath.Glob(filepath.Join(dir, "*.ldb")); len(tables) != 1 {
		t.Error(tables, err)
	}
}
