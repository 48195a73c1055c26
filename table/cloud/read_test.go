package cloud_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"

	"gocloud.dev/gcerrors"

	"github.com/sievetable/sievetable/table/cloud"
	"github.com/sievetable/sievetable/table/set"
)

// letters returns n bytes whose values depend on their offsets.
func letters(n int) string {
	return strings.Repeat("abcdefghijklmnopqrstuvwxyz0123456789!", n/37+1)[:n]
}

// ReadAt returns the same as ReadAt of a bytes.Reader, in all stores.
func TestReadAtAsBytesReader(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			for _, size := range []int{0, 1, 1000} {
				name := fmt.Sprintf("%d.ldb", size)
				putObject(t, bucket, name, letters(size))
				for _, known := range []bool{false, true} {
					checkReads(t, newStore(bucket), name, letters(size), known)
				}
			}
		})
	}
}

// checkReads compares reads of the table with a reader of its contents. Unless known is set, each read is the first
// one.
func checkReads(t *testing.T, src *cloud.Store, name, contents string, known bool) {
	t.Helper()
	size := int64(len(contents))
	for _, off := range []int64{0, 1, size / 2, size - 1, size, size + 1, 1 << 40} {
		for _, n := range []int64{1, 2, size - off, size - off + 1, size, 2 * size} {
			if off < 0 || n <= 0 || n > 1<<20 {
				continue
			}
			want, got := make([]byte, n), make([]byte, n)
			wantN, wantErr := bytes.NewReader([]byte(contents)).ReadAt(want, off)
			gotN, gotErr := src.ReadAt(t.Context(), name, got, off)
			if gotN != wantN || gotErr != wantErr || !bytes.Equal(got[:gotN], want[:wantN]) {
				t.Errorf("%d bytes at %d of %d: %d, %v, %q, want %d, %v, %q", n, off, size, gotN, gotErr, got[:gotN], wantN, wantErr, want[:wantN])
			}
			if !known {
				src.Forget(name)
			}
		}
	}
}

// Each read takes one request, even up to or past the end. A read of no bytes takes none.
func TestRequestsOfReads(t *testing.T) {
	p, bucket := newProxy(t)
	putObject(t, bucket, "a.ldb", letters(100))
	src := newStore(bucket)
	for _, tt := range []struct {
		name     string
		n, off   int
		requests int
	}{
		{"the first read", 10, 90, 1},
		{"another", 10, 0, 1},
		{"up to the end", 11, 90, 1},
		{"behind the end", 10, 100, 1},
		{"no bytes", 0, 50, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			src.ReadAt(t.Context(), "a.ldb", make([]byte, tt.n), int64(tt.off))
			if got := p.Count("GET") + p.Count("HEAD"); got != tt.requests {
				t.Errorf("%d requests, want %d", got, tt.requests)
			}
		})
	}
}

func TestReadAtRefuses(t *testing.T) {
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			bucket := s.bucket(t)
			putObject(t, bucket, "a.ldb", letters(100))
			src := newStore(bucket)
			p := make([]byte, 10)
			_, err := src.ReadAt(t.Context(), "b.ldb", p, 50)
			if checkError(t, err, fs.ErrNotExist, `cloud: read 10 bytes at 50 of table "b.ldb": `); gcerrors.Code(err) != gcerrors.NotFound {
				t.Errorf("%v, want the code NotFound", err)
			}
			_, err = src.ReadAt(t.Context(), "a.ldb", p, -1)
			checkError(t, err, nil, `cloud: read 10 bytes at -1 of table "a.ldb": the offset is negative`)
		})
	}
}

// If the context is done, a read fails before it begins.
func TestDoneContextEndsReadAt(t *testing.T) {
	p, bucket := newProxy(t)
	putObject(t, bucket, "a.ldb", letters(100))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n, err := newStore(bucket).ReadAt(ctx, "a.ldb", make([]byte, 10), 0)
	checkError(t, err, context.Canceled, `read 10 bytes at 0 of table "a.ldb"`)
	if requests := p.Count("GET"); n != 0 || requests != 0 {
		t.Errorf("%d bytes, %d requests, want none", n, requests)
	}
}

// If an object is replaced while its table is open, reads fail until the table is forgotten.
func TestReplacedObjectIsAnError(t *testing.T) {
	first, second := letters(1000), strings.ToUpper(letters(1000))
	for _, s := range stores {
		for _, after := range []string{second, second[:60], ""} {
			t.Run(fmt.Sprintf("%s/%d bytes", s.name, len(after)), func(t *testing.T) {
				bucket := s.bucket(t)
				putObject(t, bucket, "a.ldb", first)
				src := newStore(bucket)
				p := make([]byte, 10)
				_, err := src.ReadAt(t.Context(), "a.ldb", p, 50)
				noError(t, err)
				replaceObject(t, bucket, "a.ldb", after)
				for _, off := range []int64{50, 500} {
					n, err := src.ReadAt(t.Context(), "a.ldb", p, off)
					checkError(t, err, set.ErrReplaced, fmt.Sprintf(`read 10 bytes at %d of table "a.ldb"`, off), "open the set again")
					if n != 0 {
						t.Errorf("%d bytes at %d, want none", n, off)
					}
				}
				src.Forget("a.ldb")
				if n, err := src.ReadAt(t.Context(), "a.ldb", p, 0); err != nil && !errors.Is(err, io.EOF) || string(p[:n]) != after[:min(10, len(after))] {
					t.Errorf("after Forget: %q, %v, want %.10q", p[:n], err, after)
				}
			})
		}
	}
}
