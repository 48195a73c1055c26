package table_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// farAway is a source whose reads take as long as an object store's. A real one sends a request with the context for
// the bytes from off to off+len(p).
type farAway struct {
	*bytes.Reader
	latency  time.Duration
	requests int
}

func (f *farAway) ReadAtContext(ctx context.Context, p []byte, off int64) (int, error) {
	f.requests++ // by one goroutine, since the examples have Concurrency 1
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(f.latency):
		return f.ReadAt(p, off)
	}
}

// openFarAway opens the table of capitals, with a data block for each.
func openFarAway() (*table.Reader, *farAway) {
	contents := capitals(&table.WriterOptions{FilterPolicy: filter.NewBloom(10), BlockSize: 1})
	src := &farAway{Reader: bytes.NewReader(contents), latency: 20 * time.Millisecond}
	r, err := table.NewReader(src, int64(len(contents)), &table.ReaderOptions{TailSize: 64 << 10})
	if err != nil {
		panic(err)
	}
	return r, src
}

// Look up many keys with few requests. Cuba and Norway are in neighboring blocks, Togo is not, and the filter rules
// out Atlantis.
func ExampleReader_GetMany() {
	r, src := openFarAway()
	keys := [][]byte{[]byte("Togo"), []byte("Atlantis"), []byte("Norway"), []byte("Cuba")}
	capitals := make([][]byte, len(keys))
	err := r.GetMany(context.Background(), keys, &table.GetManyOptions{Concurrency: 1}, func(i int, value []byte) error {
		capitals[i] = value
		return nil
	})
	for i, key := range keys {
		fmt.Printf("%s: %q\n", key, capitals[i])
	}
	fmt.Println(src.requests, "requests,", err)
	// Output:
	// Togo: "Lomé"
	// Atlantis: ""
	// Norway: "Oslo"
	// Cuba: "Havana"
	// 2 requests, <nil>
}

// Look up a key in a slow store, with a time limit.
func ExampleReader_With() {
	r, src := openFarAway()
	src.latency = 5 * time.Minute // the store is overloaded
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	_, err := r.With(ctx).Get([]byte("Peru"))
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	src.latency = 20 * time.Millisecond
	capital, err := r.With(context.Background()).Get([]byte("Peru"))
	fmt.Printf("%s %v\n", capital, err)
	// Output:
	// true
	// Lima <nil>
}
