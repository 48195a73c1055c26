package paged_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zeebo/xxh3"

	"github.com/sievetable/sievetable/filter/paged"
	"github.com/sievetable/sievetable/internal/long"
)

// A source answers reads by a function.
type source func(p []byte, off int64) (int, error)

func (s source) ReadAt(p []byte, off int64) (int, error) { return s(p, off) }

// A contextSource has its reads ended by a context.
type contextSource func(ctx context.Context, p []byte, off int64) (int, error)

func (s contextSource) ReadAt([]byte, int64) (int, error) { return 0, errors.New("ReadAt was called") }

func (s contextSource) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	return s(ctx, p, off)
}

// Opening reads the trailer, and a lookup one page.
func TestLookupIsOneRead(t *testing.T) {
	t.Parallel()
	contents := buildNumbered(t, 10, 1, 50_000)
	var reads [][2]int
	src := source(func(p []byte, off int64) (int, error) {
		reads = append(reads, [2]int{int(off), len(p)})
		return copy(p, contents[off:]), nil
	})
	r := newReader(t, src, len(contents))
	key := numbered(1, 3)[2]
	want := [][2]int{{len(contents) - 36, 36}, {int(pageOf(r, key)) * 4096, 4096}}
	if found, err := r.Contains(t.Context(), key); !found || err != nil {
		t.Errorf("Contains returns %v, %v", found, err)
	}
	if diff := cmp.Diff(want, reads); diff != "" {
		t.Errorf("offsets and lengths of reads (-want +got):\n%s", diff)
	}
}

var errBroken = errors.New("broken")

// Whatever a source does, an answer is right, or there is an error: that of the source, if it has one.
func TestSourcesThatFailOrLie(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	contents := build(t, 10, [][]byte{key})
	copied := func(p []byte, off int64) int { return copy(p, contents[off:]) }
	for _, tt := range []struct {
		name string
		src  source
		want error // nil: an answer
	}{
		{"whole", func(p []byte, off int64) (int, error) { return copied(p, off), nil }, nil},
		{"whole with EOF", func(p []byte, off int64) (int, error) { return copied(p, off), io.EOF }, nil},
		{"fails", func(p []byte, off int64) (int, error) { return 0, errBroken }, errBroken},
		{"whole and fails", func(p []byte, off int64) (int, error) { return copied(p, off), errBroken }, errBroken},
		{"short", func(p []byte, off int64) (int, error) { return copied(p[1:], off), nil }, io.ErrUnexpectedEOF},
		{"short with EOF", func(p []byte, off int64) (int, error) { return copied(p[1:], off), io.EOF }, io.ErrUnexpectedEOF},
		{"nothing", func(p []byte, off int64) (int, error) { return 0, nil }, io.ErrUnexpectedEOF},
		{"too much", func(p []byte, off int64) (int, error) { return copied(p, off) + 1, nil }, io.ErrUnexpectedEOF},
		{"less than nothing", func(p []byte, off int64) (int, error) { return -1, nil }, io.ErrUnexpectedEOF},
		{"nothing read", func(p []byte, off int64) (int, error) { return len(p), nil }, paged.ErrCorrupt},
		{"other bytes", func(p []byte, off int64) (int, error) { return copied(p, 2), nil }, paged.ErrCorrupt},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lies := false
			src := source(func(p []byte, off int64) (int, error) {
				if lies {
					clear(p)
					return tt.src(p, off)
				}
				return copied(p, off), nil
			})
			r := newReader(t, src, len(contents))
			lies = true
			found, err := r.Contains(t.Context(), key)
			if !errors.Is(err, tt.want) || found != (tt.want == nil) {
				t.Errorf("Contains returns %v, %v, want %v", found, err, tt.want)
			}
			if r, err := newShapeReader(t.Context(), src, int64(len(contents))); (err == nil) != (tt.want == nil) || (r == nil) != (err != nil) {
				t.Errorf("NewReader returns %v, %v, want %v", r, err, tt.want)
			}
			lies = false
			if found, err := r.Contains(t.Context(), key); !found || err != nil {
				t.Errorf("the next lookup returns %v, %v", found, err)
			}
		})
	}
}

func TestErrorsNameThePlace(t *testing.T) {
	t.Parallel()
	contents := build(t, 10, numbered(1, 12_000))
	key := numbered(1, 1)[0]
	fails := false
	src := source(func(p []byte, off int64) (int, error) {
		if fails {
			return 0, errBroken
		}
		return copy(p, contents[off:]), nil
	})
	r := newReader(t, src, len(contents))
	n := pageOf(r, key)
	fails = true
	_, err := r.Contains(t.Context(), key)
	_, opening := newShapeReader(t.Context(), src, int64(len(contents)))
	for _, tt := range []struct {
		err  error
		want string
	}{
		{err, fmt.Sprintf("paged: reading page %d at %d: broken", n, n*4096)},
		{opening, "paged: reading the trailer at 16384: broken"},
	} {
		if fmt.Sprint(tt.err) != tt.want {
			t.Errorf("error %v, want %s", tt.err, tt.want)
		}
	}
}

func TestImpossibleSizes(t *testing.T) {
	t.Parallel()
	contents := build(t, 10, numbered(1, 10))
	for _, size := range []int64{math.MinInt64, -1, 0, 35, 36, 4131, 4133, 1 << 40, math.MaxInt64} {
		if r, err := newShapeReader(t.Context(), bytes.NewReader(contents), size); err == nil || r != nil {
			t.Errorf("%d bytes: NewReader returns %v, %v", size, r, err)
		}
	}
}

// When the context is done before, during or at the end of a read, that is an error, never an answer.
func TestCancelledContext(t *testing.T) {
	t.Parallel()
	key := []byte("key")
	contents := build(t, 10, [][]byte{key})
	sound := func(_ context.Context, p []byte, off int64) (int, error) { return copy(p, contents[off:]), nil }
	for name, end := range map[string]func(cancel func(), ctx context.Context, p []byte, off int64) (int, error){
		"before": nil,
		"during": func(cancel func(), ctx context.Context, _ []byte, _ int64) (int, error) {
			cancel()
			<-ctx.Done()
			return 0, ctx.Err()
		},
		"with another error": func(cancel func(), _ context.Context, _ []byte, _ int64) (int, error) {
			cancel()
			return 0, errBroken
		},
		"at the end": func(cancel func(), ctx context.Context, p []byte, off int64) (int, error) {
			cancel()
			return sound(ctx, p, off)
		},
	} {
		t.Run(name, func(t *testing.T) {
			read := sound
			src := contextSource(func(ctx context.Context, p []byte, off int64) (int, error) { return read(ctx, p, off) })
			r := newReader(t, src, len(contents))
			done := func() context.Context {
				ctx, cancel := context.WithCancel(t.Context())
				if t.Cleanup(cancel); end == nil {
					cancel()
				}
				read = func(ctx context.Context, p []byte, off int64) (int, error) { return end(cancel, ctx, p, off) }
				return ctx
			}
			if found, err := r.Contains(done(), key); found || !errors.Is(err, context.Canceled) {
				t.Errorf("Contains returns %v, %v", found, err)
			}
			if r, err := newShapeReader(done(), src, int64(len(contents))); r != nil || !errors.Is(err, context.Canceled) {
				t.Errorf("NewReader returns %v, %v", r, err)
			}
			read = sound
			if found, err := r.Contains(t.Context(), key); !found || err != nil {
				t.Errorf("the next lookup returns %v, %v", found, err)
			}
		})
	}
}

// Pages of filters of 2^40 and 2^44 bytes are read at their places, and have the rate of others, though of the hash fewer
// bits are left for the place in a page.
func TestLargestFilters(t *testing.T) {
	long.NoRace(t)
	t.Parallel()
	for _, pages := range []uint64{1<<28 - 1, 1 << 28, 1 << 32} {
		t.Run(fmt.Sprintf("pages=%d", pages), func(t *testing.T) {
			const keys, lookups = 3273, 200_000 // 10 bits per key
			p := plain{keys: keys * pages, pages: pages, lgPage: 12, hash: 1, k: 7, format: 1}
			key, page := []byte("key"), make([]byte, 4096)
			n, bits := p.bits(xxh3.Hash(key))
			set(page, bits)
			rng := rand.New(rand.NewPCG(50, pages))
			for range keys - 1 {
				_, bits := p.bits(p.anyIn(n, rng))
				set(page, bits)
			}
			p.seal(page, n)
			r, err := newShapeReader(t.Context(), p.onePage(page, n), int64(pages*4096+36))
			if err != nil {
				t.Fatal(err)
			}
			if found, err := r.Contains(t.Context(), key); !found || err != nil {
				t.Errorf("Contains returns %v, %v", found, err)
			}
			passed := 0.0
			for range lookups {
				h := p.anyIn(n, rng)
				if r.Page(h) != n {
					t.Fatalf("page %d, want %d", r.Page(h), n)
				}
				if r.InPage(page, h) {
					passed++
				}
			}
			if want := newPolicy(t, 10).Rate(keys) * lookups; math.Abs(passed-want) > 0.1*want {
				t.Errorf("%.0f of %d absent keys pass, want about %.0f", passed, lookups, want)
			}
		})
	}
}

// anyIn returns the hash of any key in page n.
func (p plain) anyIn(n uint64, rng *rand.Rand) uint64 {
	h, _ := bits.Div64(n, max(rng.Uint64(), p.pages), p.pages)
	return h
}

// onePage is a source that has one page of a filter, and the trailer.
func (p plain) onePage(page []byte, n uint64) source {
	return func(b []byte, off int64) (int, error) {
		switch uint64(off) {
		case n * 4096:
			return copy(b, page), nil
		case p.pages * 4096:
			return copy(b, p.trailer()), nil
		}
		return 0, fmt.Errorf("a read at %d", off)
	}
}
