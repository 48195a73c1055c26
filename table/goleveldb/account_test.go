package goleveldb

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/syndtr/goleveldb/leveldb/cache"
	"github.com/syndtr/goleveldb/leveldb/opt"
	"github.com/syndtr/goleveldb/leveldb/storage"

	"github.com/sievetable/sievetable/internal/errtest"
)

// accounted checks that a cache.Cache counts the contents of a Reader's table.Cache, except for less than two pages
// and for the blocks read last, until the account counts again.
func accounted(t *testing.T, c *cache.Cache, r *Reader, files int) {
	t.Helper()
	const block = 16 << 10 // more than one takes in the table.Cache
	a := r.blocks.account
	want := int(a.of.Size()) + files*fileSize
	if got := c.Size(); got < want-2*a.page-accountEvery*block {
		t.Errorf("Size = %d, want about %d, with pages of %d bytes", got, want, a.page)
	}
	for range accountEvery {
		a.afterRead()
	}
	if got := c.Size(); got > want+2*a.page || got < want-2*a.page {
		t.Errorf("Size = %d when it was counted, want %d or at most two pages of %d bytes more or less", got, want, a.page)
	}
}

// The Size of a cache.Cache is the memory of its blocks, while they are added, when they are evicted, and after the
// Readers are released.
func TestCacheSizeIsThatOfBlocks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 3))
	contents := accountedTable(t)
	for range 20 {
		capacity := 1 + rng.IntN(4<<20)
		c := cache.NewCache(cache.NewLRU(capacity))
		var readers [3]*Reader
		for i := range readers {
			readers[i] = openCached(t, contents, c, uint64(i))
		}
		for range 2000 {
			if _, _, err := readers[rng.IntN(3)].Find(accountedKey(rng.IntN(20_000)), false, nil); err != nil {
				t.Fatal(err)
			}
			if rng.IntN(100) == 0 {
				accounted(t, c, readers[0], 3)
			}
		}
		for _, r := range readers {
			r.Release()
		}
		accounted(t, c, readers[0], 3)
		if used := c.Size(); used > capacity+3*fileSize+minAccountPage {
			t.Errorf("Size = %d, but the capacity is %d", used, capacity)
		}
		c.EvictAll()
		for began := time.Now(); c.Size() > 0; time.Sleep(time.Millisecond) {
			if time.Since(began) > 5*time.Minute {
				t.Fatalf("Size = %d when all is evicted", c.Size())
			}
		}
	}
}

// Goroutines read while the cache is closed.
func TestCacheIsClosedWhileReading(t *testing.T) {
	t.Parallel()
	contents := accountedTable(t)
	for range 20 {
		c := cache.NewCache(cache.NewLRU(1 << 20))
		done := make(chan error)
		for i := range 4 {
			r := openCached(t, contents, c, uint64(i))
			go func() {
				defer r.Release()
				for n := range 500 {
					if _, err := r.Get(accountedKey(n*37), nil); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		CloseCache(c)
		for range 4 {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
	}
}

// CloseCache closes a cache in any version of goleveldb.
func CloseCache(c *cache.Cache) {
	switch c := any(c).(type) {
	case interface{ Close(force bool) }:
		c.Close(false)
	case io.Closer:
		_ = c.Close() // always nil
	default:
		panic(fmt.Sprintf("%T has no Close", c))
	}
}

func accountedKey(i int) []byte { return fmt.Appendf(nil, "key%06d", i) }

// accountedTable returns a table of 20,000 entries.
func accountedTable(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	w := NewWriter(&b, nil, nil, 0)
	for i := range 20_000 {
		errtest.NoError(t, w.Append(accountedKey(i), make([]byte, 50)))
	}
	errtest.NoError(t, w.Close())
	return b.Bytes()
}

// openCached opens a table as a file of a cache.
func openCached(t *testing.T, contents []byte, c *cache.Cache, ns uint64) *Reader {
	t.Helper()
	r, err := NewReader(bytes.NewReader(contents), int64(len(contents)), storage.FileDesc{}, &cache.NamespaceGetter{Cache: c, NS: ns}, nil, &opt.Options{})
	errtest.NoError(t, err)
	return r
}
