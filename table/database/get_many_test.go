package database_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/errtest"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/database"
)

// damagedDatabase returns a database with a log and one table of the keys 00 to 99 in many blocks, the first of
// which is corrupt.
func damagedDatabase(t *testing.T) *database.DB {
	t.Helper()
	var l layout
	l.options = table.WriterOptions{BlockSize: 100, Compression: table.NoCompression}
	var entries []entry
	for i := range uint64(100) {
		entries = append(entries, set(fmt.Sprintf("%02d", i), i+1, "value"))
	}
	l.table(t, 1, entries...)
	l.write(t, batch(set("00", 101, "of the log")))
	files := l.end(t)
	files["000002.ldb"].Data[3] ^= 1
	return openFS(t, files, nil)
}

// allKeys returns all keys of damagedDatabase, and an absent one.
func allKeys() (keys [][]byte) {
	for i := range 101 {
		keys = append(keys, fmt.Appendf(nil, "%02d", i))
	}
	return keys
}

// A corrupt block fails only the lookups and moves that need it.
func TestDamagedBlock(t *testing.T) {
	t.Parallel()
	db := damagedDatabase(t)
	const want = "table: 000002.ldb: data block at 0 "
	isDamage := func(err error) bool { return errors.Is(err, table.ErrCorrupt) && strings.HasPrefix(err.Error(), want) }
	checkGet(t, db.View, "00", "of the log", true)
	checkGet(t, db.View, "99", "value", true)
	if _, err := db.Get([]byte("01")); !isDamage(err) {
		t.Errorf("Get = %v, want %s", err, want)
	}
	if dst, err := db.AppendGet([]byte("dst"), []byte("01")); !isDamage(err) || string(dst) != "dst" {
		t.Errorf("AppendGet = %q, %v, want %s", dst, err, want)
	}
	it := db.NewIter(nil)
	defer it.Close()
	if it.First() || !isDamage(it.Error()) || !it.Last() || string(it.Key()) != "99" {
		t.Errorf("First = %v, then Last at %q", it.Error(), it.Key())
	}
	pairs := collect(t, db.View, &table.IterOptions{OnLoss: isTrue})
	if len(pairs) < 90 || string(pairs[0].Key) != "00" || string(pairs[1].Key) < "02" {
		t.Errorf("%d pairs, from %q on", len(pairs), pairs[:2])
	}
}

func isTrue(table.Loss) bool { return true }

// GetMany continues after a corrupt block, returns its error once, and reports the keys whose lookups failed.
func TestGetManyOfADamagedBlock(t *testing.T) {
	t.Parallel()
	db := damagedDatabase(t)
	keys := append(allKeys(), []byte("01"), []byte("00"))
	var found, unanswered, want []int
	for i, key := range keys {
		if _, err := db.Get(key); errors.Is(err, table.ErrCorrupt) {
			want = append(want, i)
		}
	}
	err := db.GetMany(t.Context(), keys, &table.GetManyOptions{NoAnswer: func(i int, err error) {
		if unanswered = append(unanswered, i); !errors.Is(err, table.ErrCorrupt) {
			t.Errorf("no answer for %s: %v", keys[i], err)
		}
	}}, func(i int, value []byte) error {
		found = append(found, i)
		return nil
	})
	slices.Sort(unanswered)
	if diff := cmp.Diff(want, unanswered); diff != "" || len(want) < 3 || len(found)+len(want) != len(keys)-1 {
		t.Errorf("%d keys found (-without an answer by Get +by GetMany):\n%s", len(found), diff)
	}
	if !errors.Is(err, table.ErrCorrupt) || strings.Count(err.Error(), "data block at") != 1 {
		t.Errorf("GetMany = %v, want the damage once", err)
	}
}

// Wrong options, an error of found, a done context and a panic end GetMany early. No goroutine is left.
func TestGetManyEnds(t *testing.T) {
	t.Parallel()
	db := openFS(t, compactions(t, 1).states[0], nil)
	keys := slices.Repeat([][]byte{[]byte("a"), []byte("b"), []byte("none")}, 200)
	errFound := errors.New("of found")
	done, cancel := context.WithCancel(t.Context())
	cancel()
	late, cancelLate := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer cancelLate()
	for name, tt := range map[string]struct {
		ctx   context.Context
		o     table.GetManyOptions
		found func(i int, value []byte) error
		want  error
	}{
		"an error of found": {t.Context(), table.GetManyOptions{}, func(int, []byte) error { return errFound }, errFound},
		"a context":         {done, table.GetManyOptions{}, func(int, []byte) error { return nil }, context.Canceled},
		"a deadline":        {late, table.GetManyOptions{Concurrency: 1}, func(int, []byte) error { return nil }, context.DeadlineExceeded},
	} {
		if err := db.GetMany(tt.ctx, keys, &tt.o, tt.found); !errors.Is(err, tt.want) {
			t.Errorf("%s: GetMany = %v, want %v", name, err, tt.want)
		}
	}
	for want, o := range map[string]table.GetManyOptions{"table: Concurrency is -1": {Concurrency: -1}, "table: Gap is -1": {Gap: -1}} {
		if err := db.GetMany(t.Context(), keys, &o, nil); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("GetMany = %v, want %s", err, want)
		}
	}
	if err := db.GetMany(t.Context(), nil, nil, nil); err != nil {
		t.Errorf("GetMany of no keys = %v", err)
	}
}

// GetMany panics with the value of a panic of found, or of a Comparer in another goroutine.
func TestGetManyPanics(t *testing.T) {
	t.Parallel()
	var l layout
	l.user = backward
	l.write(t, batch(set("a", 1, "a"), set("b", 2, "b")))
	files := l.end(t)
	order := &panickingOrder{Comparer: l.user}
	db := openFS(t, files, &database.Options{Comparers: []table.Comparer{order}})
	for _, want := range []string{"of found", "of Compare"} {
		order.panics = want == "of Compare"
		got := errtest.PanicOf(func() {
			db.GetMany(t.Context(), [][]byte{[]byte("a")}, nil, func(int, []byte) error { panic("of found") })
		})
		if got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}
}

// A panickingOrder is an order that panics.
type panickingOrder struct {
	table.Comparer
	panics bool
}

func (p *panickingOrder) Compare(a, b []byte) int {
	if p.panics {
		panic("of Compare")
	}
	return p.Comparer.Compare(a, b)
}
