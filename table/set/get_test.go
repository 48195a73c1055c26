package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// gappedSet returns a store of tables with gaps between their ranges: table i has the keys from
// 100×i up to 100×i+49.
func gappedSet(t testing.TB, n int, o *table.WriterOptions) (*store, *set.Manifest) {
	t.Helper()
	s, m := newStore(), new(set.Manifest)
	for i := range n {
		m.Tables = append(m.Tables, s.put(t, fmt.Sprintf("t%03d", i), o, numbered(100*i, 100*i+50)))
	}
	return s, m
}

// A key outside of all ranges costs no read, and a present one costs one.
func TestHowManyReadsGetTakes(t *testing.T) {
	t.Parallel()
	src, m := gappedSet(t, 3, filtered)
	s := open(t, m, src, &set.Options{OpenAll: true, Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}})
	for _, test := range []struct {
		key, value string
		reads      int64
	}{
		{"", "", 0},
		{"a", "", 0},
		{key(50), "", 0},
		{key(199), "", 0},
		{"z", "", 0},
		{key(0), "value of 0", 1},
		{key(249), "value of 249", 1},
		{key(130), "value of 130", 1},
		{key(130), "value of 130", 0},
		{key(130) + "x", "", 0}, // by the filters
	} {
		t.Run(fmt.Sprintf("%q, %d reads", test.key, test.reads), func(t *testing.T) {
			before := src.reads.Load()
			checkGet(t, s, test.key, test.value)
			if got := src.reads.Load() - before; got != test.reads {
				t.Errorf("%d reads, want %d", got, test.reads)
			}
		})
	}
}

// Get, MayContain and GetMany find the keys of all tables, and nothing else.
func TestLookupsFindAllKeysAndNoOthers(t *testing.T) {
	t.Parallel()
	for tables, o := range map[string]*table.WriterOptions{
		"unfiltered": nil, "filtered": filtered, "large blocks": {BlockSize: 1 << 16},
	} {
		src, m := gappedSet(t, 5, o)
		for name, so := range map[string]set.Options{
			"defaults":   {},
			"OpenAll":    {OpenAll: true},
			"MemorySize": {MemorySize: 1},
			"Cache":      {Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}},
		} {
			t.Run(tables+", "+name, func(t *testing.T) {
				s := open(t, m, src, &so)
				keys, want := bytesOf("", "k", "zzz"), map[string]string{}
				for i := range 500 {
					keys = append(keys, []byte(key(i)), []byte(key(i)+"x"))
					value := ""
					if i%100 < 50 {
						value = fmt.Sprintf("value of %d", i)
						want[key(i)] = value
					}
					checkGet(t, s, key(i), value)
					checkGet(t, s, key(i)+"x", "")
					if may, err := s.MayContain(background, []byte(key(i))); err != nil || !may && value != "" || may && i%100 >= 50 {
						t.Errorf("MayContain(%s) = %t, %v", key(i), may, err)
					}
				}
				slices.Reverse(keys)
				got, err := getMany(background, s, keys, nil)
				if diff := cmp.Diff(want, got); diff != "" || err != nil {
					t.Errorf("GetMany: %v (-want +got):\n%s", err, diff)
				}
			})
		}
	}
}

// Tables that have filters only answer MayContain, and say so to all else.
func TestFilterOnlyTablesAnswerMayContain(t *testing.T) {
	t.Parallel()
	src, m := newStore(), new(set.Manifest)
	for i := range 3 {
		var pairs [][2]string
		for j := range 1000 {
			pairs = append(pairs, [2]string{key(1000*i + j), ""})
		}
		o := &table.WriterOptions{FilterOnly: true, TableFilterPolicy: filter.NewTableBloom(16)}
		m.Tables = append(m.Tables, src.put(t, fmt.Sprint("t", i), o, pairs))
	}
	s := open(t, m, src, nil)
	wrong := 0
	for i := range 3000 {
		if may, err := s.MayContain(background, []byte(key(i))); !may || err != nil {
			t.Fatalf("MayContain(%s) = %t, %v", key(i), may, err)
		}
		absent := []byte(key(i) + "x")
		if may, err := s.MayContain(background, absent); err != nil {
			t.Fatal(err)
		} else if may {
			wrong++
			if _, err := s.Get(background, absent); !errors.Is(err, table.ErrFilterOnly) {
				t.Errorf("Get = %v, want ErrFilterOnly", err)
			}
		}
	}
	if wrong > 30 {
		t.Errorf("%d of 3000 keys are false positives, want ≤ 30", wrong)
	}
	if _, err := s.Get(background, []byte(key(5))); !errors.Is(err, table.ErrFilterOnly) {
		t.Errorf("Get = %v, want ErrFilterOnly", err)
	}
	checkGet(t, s, "zzz", "")
	if _, err := getMany(background, s, bytesOf(key(5), key(2005)), nil); !errors.Is(err, table.ErrFilterOnly) {
		t.Errorf("GetMany = %v, want ErrFilterOnly", err)
	}
	if it := s.NewIter(background, nil); it.First() || !errors.Is(it.Error(), table.ErrFilterOnly) {
		t.Errorf("First: %v, want ErrFilterOnly", it.Error())
	}
	if err := s.Verify(background, nil); err != nil {
		t.Errorf("Verify = %v", err)
	}
	if got := src.reads.Load(); got > 3+5*3 {
		t.Errorf("%d reads", got)
	}
}

// A context that is done ends a lookup at once, whether it opens a table or reads a block.
func TestGetWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 2, filtered)
		s := open(t, m, src, nil)
		src.latency = time.Second
		for _, what := range []string{"opening", "reading"} {
			if what == "reading" {
				checkGet(t, s, key(3), "value of 3") // opens it
			}
			ctx, cancel := context.WithTimeout(background, 100*time.Millisecond)
			start := time.Now()
			_, err := s.Get(ctx, []byte(key(3)))
			if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != 100*time.Millisecond {
				t.Errorf("%s: Get = %v after %v, want DeadlineExceeded after 100 ms", what, err, took)
			}
			cancel()
		}
		done, cancel := context.WithCancel(background)
		cancel()
		before := src.reads.Load()
		if _, err := s.Get(done, []byte(key(3))); !errors.Is(err, context.Canceled) {
			t.Errorf("Get = %v, want Canceled", err)
		}
		if _, err := s.MayContain(done, []byte(key(60))); !errors.Is(err, context.Canceled) {
			t.Errorf("MayContain = %v, want Canceled", err)
		}
		if src.reads.Load() != before {
			t.Error("a lookup whose context was done has read")
		}
	})
}

// Values are the caller's to keep.
func TestValuesStay(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, &set.Options{MemorySize: 1})
	var values [][]byte
	for i := range 100 {
		v, err := s.Get(background, []byte(key(i)))
		if err != nil {
			t.Fatal(err)
		}
		values = append(values, v)
	}
	s.Close()
	for i, v := range values {
		if want := fmt.Appendf(nil, "value of %d", i); !bytes.Equal(v, want) || cap(v) != len(v) {
			t.Errorf("value %d is %q with capacity %d, want %q", i, v, cap(v), want)
		}
	}
}
