package table_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
)

// openTables returns 4 tables of 100 keys each, where they are, all keys, and what to ask each
// table for.
func openTables(t *testing.T) (stores []*store, keys [][]byte, parts []table.GetManyPart) {
	all := numbered(400)
	for first := 0; first < len(all); first += 100 {
		o := &table.ReaderOptions{Name: fmt.Sprintf("table %d", first/100)}
		r, s := openStore(t, build(t, oneKeyBlocks, all[first:first+100]), o)
		part := table.GetManyPart{Reader: r}
		for i := first; i < first+100; i++ {
			keys, part.Keys = append(keys, all[i].Key), append(part.Keys, i)
		}
		stores, parts = append(stores, s), append(parts, part)
	}
	return stores, keys, parts
}

// foundBy returns which keys GetMany finds.
func foundBy(ctx context.Context, keys [][]byte, parts []table.GetManyPart, o *table.GetManyOptions) (found []int, err error) {
	err = table.GetMany(ctx, keys, parts, o, func(i int, _ []byte) error {
		found = append(found, i)
		return nil
	})
	slices.Sort(found)
	return found, err
}

// The reads of all tables together are at most Concurrency at a time, and as many if they can.
func TestGetManyOfSeveralTables(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stores, keys, parts := openTables(t)
		for _, s := range stores {
			s.latency = time.Second
		}
		for i := range parts { // keys 0, 10, 20 …
			var some []int
			for j := 0; j < 100; j += 10 {
				some = append(some, parts[i].Keys[j])
			}
			parts[i].Keys = some
		}
		start := time.Now()
		found, err := foundBy(t.Context(), keys, parts, &table.GetManyOptions{Concurrency: 20})
		var want []int
		for i := 0; i < 400; i += 10 {
			want = append(want, i)
		}
		if diff := cmp.Diff(want, found); diff != "" || err != nil {
			t.Errorf("GetMany = %v (-want +got):\n%s", err, diff)
		}
		if took := time.Since(start); took != 2*time.Second {
			t.Errorf("40 reads of a second took %v, want 2 s with 20 at a time", took)
		}
	})
}

// An error of one table leaves the keys of the others as they are.
func TestGetManyWithOneBadTable(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*store, *table.Reader) error{
		"closed":    func(_ *store, r *table.Reader) error { r.Close(); return table.ErrClosed },
		"truncated": func(s *store, _ *table.Reader) error { s.contents = nil; return io.ErrUnexpectedEOF },
	} {
		stores, keys, parts := openTables(t)
		want := spoil(stores[1], parts[1].Reader)
		found, err := foundBy(t.Context(), keys, parts, nil)
		if !errors.Is(err, want) || len(found) != 300 || slices.Contains(found, 150) {
			t.Errorf("%s: GetMany = %v, with %d keys found; want %v, and the 300 of the other tables", name, err, len(found), want)
		}
	}
}

// Each key is found, absent, or without an answer, whatever fails and in whatever order the reads
// end.
func TestGetManyTellsNoAnswerFromAbsent(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(28, 14))
	seen := map[string]int{}
	for round := range 60 {
		stores, keys, parts := openTables(t)
		broken := errors.New("broken")
		for i := range parts {
			switch stores[i].bad = rng.IntN(4) * 1000; rng.IntN(6) {
			case 0:
				parts[i].Reader.Close()
			case 1:
				keys[i*100+rng.IntN(100)] = []byte("absent")
			}
			stores[i].err = broken
		}
		got := make([]string, len(keys))
		o := &table.GetManyOptions{Concurrency: 1 + rng.IntN(8), Gap: rng.IntN(3) * 100}
		o.NoAnswer = func(i int, err error) { got[i] += "no answer" }
		err := table.GetMany(t.Context(), keys, parts, o, func(i int, value []byte) error {
			got[i] += "found"
			return nil
		})
		failed := false
		for i, outcome := range got {
			seen[outcome]++
			failed = failed || outcome == "no answer"
			if absent := string(keys[i]) == "absent"; outcome != "no answer" && outcome != map[bool]string{true: "", false: "found"}[absent] {
				t.Fatalf("round %d: key %d, %q: %q", round, i, keys[i], outcome)
			}
		}
		if failed != (err != nil) {
			t.Errorf("round %d: keys without an answer: %v, GetMany = %v", round, failed, err)
		}
	}
	if seen["found"] < 100 || seen["no answer"] < 100 || seen[""] == 0 {
		t.Errorf("outcomes %v, want many of each", seen)
	}
}

// A part that asks for nothing sensible is an error before anything is read.
func TestGetManyOfBadParts(t *testing.T) {
	t.Parallel()
	stores, keys, parts := openTables(t)
	for want, bad := range map[string]table.GetManyPart{
		"no Reader":         {},
		"key number 400":    {Reader: parts[0].Reader, Keys: []int{400}},
		"key number -1, wa": {Reader: parts[0].Reader, Keys: []int{-1}},
	} {
		found, err := foundBy(t.Context(), keys, append(slices.Clip(parts), bad), nil)
		if err == nil || !strings.Contains(err.Error(), want) || found != nil || len(stores[0].reads) > 0 {
			t.Errorf("GetMany = %v, with %d keys found; want an error with %q", err, len(found), want)
		}
	}
}

// The context of an Iter ends its reads, ahead or not, and errors have the table's name.
func TestIterContext(t *testing.T) {
	t.Parallel()
	for _, ahead := range []int{0, 500} {
		synctest.Test(t, func(t *testing.T) { // so that the read begins before the context ends
			stores, _, parts := openTables(t)
			ctx, cancel := context.WithCancel(t.Context())
			it := parts[2].Reader.With(ctx, table.LookupOptions{}).NewIter(&table.IterOptions{ReadAhead: ahead})
			if !it.First() {
				t.Fatal(it.Error())
			}
			stores[2].latency = time.Hour
			time.AfterFunc(time.Millisecond, cancel)
			start := time.Now()
			if it.Last() || !errors.Is(it.Error(), context.Canceled) || time.Since(start) != time.Millisecond {
				t.Errorf("Last = %v after %v, want context.Canceled after 1 ms", it.Error(), time.Since(start))
			}
			stores[2].contents[0] ^= 1
			stores[2].latency = 0
			it = parts[2].Reader.NewIter(nil)
			if it.First() || !strings.Contains(it.Error().Error(), "table 2: data block at 0") {
				t.Errorf("First = %v, want an error that names the table", it.Error())
			}
		})
	}
}
