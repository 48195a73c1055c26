package set_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A lookup of a key outside all ranges reads nothing. A lookup of a present key reads once.
func TestHowManyReadsGetTakes(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 5, filtered)
	m = manifestOf(m.Tables[0], m.Tables[2], m.Tables[4]) // with gaps between their ranges
	s := open(t, m, src, &set.Options{OpenAll: true, Reader: table.ReaderOptions{Cache: table.NewCache(1 << 20)}})
	src.reads.Store(0)
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
		{key(130) + "x", "", 0}, // ruled out by filters
	} {
		t.Run(fmt.Sprintf("%q, %d reads", test.key, test.reads), func(t *testing.T) {
			checkGet(t, s, test.key, test.value)
			checkReads(t, src, test.reads)
		})
	}
}

// If the context is done, a lookup ends at once, whether it opens a table or reads a block.
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
			ctx := within(t, 100*time.Millisecond)
			checkTook(t, what+": Get", 100*time.Millisecond, context.DeadlineExceeded, func() error {
				_, err := s.Get(ctx, []byte(key(3)))
				return err
			})
		}
		src.reads.Store(0)
		_, err := s.Get(canceled(), []byte(key(3)))
		checkError(t, "Get", err, context.Canceled, "")
		_, err = s.MayContain(canceled(), []byte(key(60)))
		checkError(t, "MayContain", err, context.Canceled, "")
		checkReads(t, src, 0)
	})
}

// The caller may keep values.
func TestValuesStay(t *testing.T) {
	t.Parallel()
	src, m := numberedSet(t, 2, filtered)
	s := open(t, m, src, &set.Options{MemorySize: 1})
	var values [][]byte
	for i := range 100 {
		v, err := s.Get(background, []byte(key(i)))
		noError(t, err)
		values = append(values, v)
	}
	s.Close()
	for i, v := range values {
		if want := fmt.Appendf(nil, "value of %d", i); !bytes.Equal(v, want) || cap(v) != len(v) {
			t.Errorf("value %d is %q with capacity %d, want %q", i, v, cap(v), want)
		}
	}
}
