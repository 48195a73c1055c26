package set_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// The law: GetMany finds what a loop of Get finds, of any keys and with any options.
func TestGetManyIsManyGets(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(17, 2))
	src, m := gappedSet(t, 8, filtered)
	for range 40 {
		s := open(t, m, src, &set.Options{OpenAll: rng.IntN(2) == 0, MemorySize: rng.Int64N(4) * 5000, Concurrency: rng.IntN(4)})
		var keys [][]byte
		want := map[string]string{}
		for range rng.IntN(100) {
			k := key(rng.IntN(900)) + strings.Repeat("x", rng.IntN(2))
			keys = append(keys, []byte(k))
			if value, err := s.Get(background, []byte(k)); err == nil {
				want[k] = string(value)
			}
		}
		got, err := getMany(background, s, keys, &table.GetManyOptions{Concurrency: rng.IntN(4), Gap: rng.IntN(1000)})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("GetMany: %v (-want +got):\n%s", err, diff)
		}
	}
}

// At most Concurrency reads run at a time, of all tables together. Tables are opened at the
// same time too.
func TestGetManyReadsSeveralTablesAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 10, filtered)
		s := open(t, m, src, nil)
		src.latency = time.Second
		var keys [][]byte
		for i := range 10 {
			keys = append(keys, []byte(key(i*perTable)))
		}
		for _, test := range []struct {
			concurrency int
			want        time.Duration
		}{
			{10, 2 * time.Second}, // with the openings
			{10, time.Second},
			{5, 2 * time.Second},
			{1, 10 * time.Second},
		} {
			start := time.Now()
			found, err := getMany(background, s, keys, &table.GetManyOptions{Concurrency: test.concurrency})
			if took := time.Since(start); took != test.want || len(found) != 10 || err != nil {
				t.Errorf("Concurrency %d: %d keys, %v after %v; want 10 after %v", test.concurrency, len(found), err, took, test.want)
			}
		}
	})
}

// With a MemorySize, GetMany opens groups of tables: not all are in memory at a time.
func TestGetManyWithMemorySize(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 20, filtered)
	bound := 5 * m.Tables[0].TailSize
	s := open(t, m, src, &set.Options{MemorySize: bound})
	var keys [][]byte
	for i := range 20 {
		keys = append(keys, []byte(key(i*perTable)))
	}
	most, n := int64(0), 0
	err := s.GetMany(background, keys, nil, func(int, []byte) error {
		most = max(most, s.MemorySize())
		n++
		return nil
	})
	if err != nil || n != 20 {
		t.Errorf("%d keys found, %v; want 20", n, err)
	}
	one := tableMemory(t, src, m, new(table.ReaderOptions))
	if most > bound+5*one {
		t.Errorf("tables take %d bytes at a time, want ≤ %d in use and %d", most, 5*one, bound)
	}
}

// An error of one table leaves only its keys without an answer.
func TestGetManyWithBrokenTables(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, openAll := range []bool{false, true} {
		t.Run(fmt.Sprintf("OpenAll %t", openAll), func(t *testing.T) {
			src, m := numberedSet(t, 4, filtered)
			s := open(t, m, src, &set.Options{OpenAll: openAll})
			src.before = func(_ context.Context, name string, _ []byte, _ int64) (int, error, bool) {
				return 0, broken, name == "t001" || name == "t003"
			}
			got, err := getMany(background, s, bytesOf(key(160), key(0), key(51), key(99), key(149)), nil)
			want := map[string]string{key(0): valueOf(0), key(149): valueOf(149)}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, want := range []string{`"t001"`, `"t003"`} {
				if !errors.Is(err, broken) || strings.Count(err.Error(), want) < 1 {
					t.Errorf("GetMany = %v, want an error of %s", err, want)
				}
			}
			opening := fmt.Sprintf(`set: cannot look up keys from %q to %q: set: table "t001": `, key(50), key(99))
			if openAll == strings.Contains(err.Error(), opening) {
				t.Errorf("GetMany = %v, want the range of keys if the table cannot be opened", err)
			}
		})
	}
}

// NoAnswer tells the keys of tables that fail, when they are opened or later, from absent ones.
func TestGetManyTellsNoAnswerFromAbsent(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for _, openAll := range []bool{false, true} {
		t.Run(fmt.Sprintf("OpenAll %t", openAll), func(t *testing.T) {
			src, m := numberedSet(t, 4, filtered)
			s := open(t, m, src, &set.Options{OpenAll: openAll})
			src.before = failing("t001", broken)
			keys := bytesOf(key(0), key(0)+"x", key(50), key(99), key(99)+"x", key(100))
			got := make([]string, len(keys))
			o := &table.GetManyOptions{NoAnswer: func(i int, err error) {
				if !errors.Is(err, broken) {
					t.Errorf("NoAnswer(%d, %v), want %v", i, err, broken)
				}
				got[i] += "no answer"
			}}
			err := s.GetMany(background, keys, o, func(i int, _ []byte) error { got[i] += "found"; return nil })
			want := []string{"found", "", "no answer", "no answer", "", "found"}
			if diff := cmp.Diff(want, got); !errors.Is(err, broken) || diff != "" {
				t.Errorf("GetMany = %v (-want +got):\n%s", err, diff)
			}
		})
	}
}

// A Set that is closed has no answers.
func TestGetManyOfAClosedSet(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, filtered)
	s := open(t, m, src, nil)
	s.Close()
	n := 0
	o := &table.GetManyOptions{NoAnswer: func(_ int, err error) {
		if n++; err != table.ErrClosed {
			t.Errorf("NoAnswer: %v, want ErrClosed", err)
		}
	}}
	err := s.GetMany(background, bytesOf(key(0), "zz"), o, nil)
	if err != table.ErrClosed || n != 2 {
		t.Errorf("GetMany = %v, with %d keys without an answer, want ErrClosed and 2", err, n)
	}
}

// Damage of one block leaves only its keys without an answer.
func TestGetManyWithDamage(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 4, filtered)
	s := open(t, m, src, eager)
	src.files["t001"][3] ^= 1
	got, err := getMany(background, s, bytesOf(key(0), key(50), key(99), key(149)), nil)
	want := map[string]string{key(0): valueOf(0), key(99): valueOf(99), key(149): valueOf(149)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !errors.Is(err, table.ErrCorrupt) || !strings.Contains(err.Error(), "t001: data block at 0") {
		t.Errorf("GetMany = %v, want damage of t001", err)
	}
}

// An error of found, or a context that is done, ends GetMany at once. It leaves no goroutine.
func TestGetManyThatEndsEarly(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 4, filtered)
		keys := bytesOf(key(0), key(50), key(100), key(150))
		enough := errors.New("enough")
		s := open(t, m, src, &set.Options{MemorySize: 1})
		calls := 0
		err := s.GetMany(background, keys, nil, func(int, []byte) error { calls++; return enough })
		if err != enough || calls != 1 {
			t.Errorf("GetMany = %v after %d calls of found, want its error after 1", err, calls)
		}
		src.latency = time.Second
		for _, openAll := range []bool{false, true} {
			s := open(t, m, src, &set.Options{OpenAll: openAll})
			ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
			start := time.Now()
			_, err := getMany(ctx, s, keys, nil)
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 100*time.Millisecond {
				t.Errorf("GetMany = %v after %v, want DeadlineExceeded after 100 ms", err, took)
			}
			cancel()
		}
		// synctest waits for all goroutines, and finds those that never end.
	})
}

// A Source that does not heed contexts holds nobody up: GetMany returns at once.
func TestGetManyReturnsWhenItsContextIsDone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 4, filtered)
		s := open(t, m, src, eager)
		src.before = func(context.Context, string, []byte, int64) (int, error, bool) {
			time.Sleep(time.Hour)
			return 0, errors.New("late"), true
		}
		ctx, cancel := context.WithTimeout(background, time.Second)
		defer cancel()
		start := time.Now()
		_, err := getMany(ctx, s, bytesOf(key(0), key(50)), nil)
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("GetMany = %v after %v, want DeadlineExceeded after 1 s", err, took)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Drain(background); err != nil { // waits for the reads
			t.Error(err)
		}
		if took := time.Since(start); took != time.Hour {
			t.Errorf("Drain after %v, want 1 h: the reads are over then", took)
		}
	})
}

// Options out of range are errors, also if no table is asked.
func TestGetManyRefusesOptions(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 1, nil)
	s := open(t, m, src, nil)
	for _, keys := range [][][]byte{nil, bytesOf(key(0)), bytesOf("zzz")} {
		if _, err := getMany(background, s, keys, &table.GetManyOptions{Concurrency: -1}); err == nil {
			t.Errorf("GetMany of %q with Concurrency -1: no error", keys)
		}
	}
}
