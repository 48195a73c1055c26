package set_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// At most Concurrency reads run at a time, for all tables together. Tables are opened concurrently too.
func TestGetManyReadsSeveralTablesAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 10, filtered)
		s := open(t, m, src, nil)
		src.latency = time.Second
		for _, test := range []struct {
			concurrency int
			want        time.Duration
		}{
			{10, 2 * time.Second}, // including the openings
			{10, time.Second},
			{5, 2 * time.Second},
			{1, 10 * time.Second},
		} {
			checkTook(t, fmt.Sprintf("Concurrency %d", test.concurrency), test.want, nil, func() error {
				found, err := getMany(background, s, firstKeys(10), &table.GetManyOptions{Concurrency: test.concurrency})
				if len(found) != 10 {
					t.Errorf("%d keys, want 10", len(found))
				}
				return err
			})
		}
	})
}

// firstKeys returns the first key of each of n tables of numberedSet.
func firstKeys(n int) (keys [][]byte) {
	for i := range n {
		keys = append(keys, []byte(key(i*perTable)))
	}
	return keys
}

// With MemorySize, GetMany opens tables in groups, so that not all are in memory at a time.
func TestGetManyWithMemorySize(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 20, filtered)
	bound := 5 * m.Tables[0].TailSize
	s := open(t, m, src, &set.Options{MemorySize: bound})
	most, n := int64(0), 0
	noError(t, s.GetMany(background, firstKeys(20), nil, func(int, []byte) error {
		most = max(most, s.MemorySize())
		n++
		return nil
	}))
	one := tableMemory(t, src, m, new(table.ReaderOptions))
	if n != 20 || most > bound+5*one {
		t.Errorf("%d keys, want 20; tables take %d bytes at a time, want ≤ %d in use and %d", n, most, 5*one, bound)
	}
}

// If a table fails, when it is opened or later, only its keys fail. NoAnswer distinguishes them from
// absent ones.
func TestGetManyWithBrokenTables(t *testing.T) {
	t.Parallel()
	for _, openAll := range []bool{false, true} {
		src, m := numberedSet(t, 4, filtered)
		s := open(t, m, src, &set.Options{OpenAll: openAll})
		src.before = failing(broken, "t001", "t003")
		keys := bytesOf(key(160), key(0), key(0)+"x", key(50), key(99), key(99)+"x", key(149))
		got := make([]string, len(keys))
		o := &table.GetManyOptions{NoAnswer: func(i int, err error) {
			checkError(t, "NoAnswer", err, broken, "")
			got[i] += "no answer"
		}}
		err := s.GetMany(background, keys, o, func(i int, value []byte) error { got[i] += string(value); return nil })
		want := []string{"no answer", valueOf(0), "", "no answer", "no answer", "", valueOf(149)}
		checkDiff(t, fmt.Sprintf("OpenAll %t: answers", openAll), want, got)
		checkError(t, "GetMany", err, broken, `"t001"`)
		checkError(t, "GetMany", err, broken, `"t003"`)
		opening := fmt.Sprintf(`set: cannot look up keys from %q to %q: set: table "t001": `, key(50), key(99))
		if openAll == strings.Contains(err.Error(), opening) {
			t.Errorf("GetMany = %v, want the range of keys if the table cannot be opened", err)
		}
	}
}

// If one block is corrupt, only its keys fail.
func TestGetManyWithDamage(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 4, filtered)
	s := open(t, m, src, eager)
	src.files["t001"][3] ^= 1
	got, err := getMany(background, s, bytesOf(key(0), key(50), key(99), key(149)), nil)
	checkDiff(t, "GetMany", map[string]string{key(0): valueOf(0), key(99): valueOf(99), key(149): valueOf(149)}, got)
	checkError(t, "GetMany", err, table.ErrCorrupt, "t001: data block at 0")
}

// An error of found, or the end of the context, ends GetMany at once, even if the Source ignores contexts. It opens no
// more tables. No goroutine remains, which synctest checks.
func TestGetManyThatEndsEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 4, filtered)
		enough := errors.New("enough")
		layer := set.Layer{
			Tables:   []set.Table{src.put(t, "layer", nil, numbered(0, 1))},
			Removals: []set.Table{src.put(t, "removals", nil, numbered(perTable, perTable+1))},
		}
		calls, failed := 0, 0
		o := &table.GetManyOptions{NoAnswer: func(int, error) { failed++ }}
		for _, layers := range [][]set.Layer{nil, {layer}} {
			calls = 0
			s := open(t, &set.Manifest{Tables: m.Tables, Layers: layers}, src, &set.Options{MemorySize: 1})
			err := s.GetMany(background, firstKeys(4), o, func(int, []byte) error { calls++; return enough })
			if err != enough || calls != 1 || failed != 0 {
				t.Errorf("%d layers: GetMany = %v after %d calls of found, %d keys failed, want its error after 1, and none", len(layers), err, calls, failed)
			}
		}
		s := open(t, m, src, &set.Options{MemorySize: 1})
		ctx, cancel := context.WithCancel(background)
		err := s.GetMany(ctx, firstKeys(4), o, func(int, []byte) error { calls++; cancel(); return nil })
		if err != context.Canceled || calls != 2 || failed != 0 {
			t.Errorf("GetMany = %v after %d calls of found, %d keys failed, want no more after the context's end", err, calls-1, failed)
		}
		for _, openAll := range []bool{false, true} {
			src.before = nil
			s := open(t, m, src, &set.Options{OpenAll: openAll})
			src.before = doing(func() { time.Sleep(time.Hour) })
			ctx := within(t, 100*time.Millisecond)
			checkTook(t, "GetMany", 100*time.Millisecond, context.DeadlineExceeded, func() error {
				_, err := getMany(ctx, s, firstKeys(4), o)
				return err
			})
			if !openAll && failed != 1 {
				t.Errorf("%d keys failed, want those of the table that was being opened", failed)
			}
			checkTook(t, "Drain, which waits for the reads", time.Hour-100*time.Millisecond, nil, func() error {
				return errors.Join(s.Close(), s.Drain(background))
			})
		}
	})
}

// Options out of range are errors, even if no table is queried.
func TestGetManyRefusesOptions(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, nil)
	s := open(t, m, src, nil)
	for _, keys := range [][][]byte{nil, bytesOf(key(0)), bytesOf("zzz")} {
		_, err := getMany(background, s, keys, &table.GetManyOptions{Concurrency: -1})
		checkError(t, "GetMany", err, nil, "Concurrency is -1")
	}
}
