package set_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// stalled makes each read of a table wait until its context is done, and then return err, or else the
// context's error.
func stalled(table string, err error) hook {
	return func(ctx context.Context, name string, _ []byte, _ int64) (int, error, bool) {
		if name != table {
			return 0, nil, false
		}
		<-ctx.Done()
		if err != nil {
			return 0, err, true
		}
		return 0, ctx.Err(), true
	}
}

// A stallingMapper is a mapper whose Map stalls as its reads do.
type stallingMapper struct{ mapper }

func (s stallingMapper) Map(ctx context.Context, name string) (io.ReaderAt, int64, error) {
	if s.before != nil {
		if _, err, done := s.before(ctx, name, nil, 0); done {
			return nil, 0, err
		}
	}
	return s.mapper.Map(ctx, name)
}

// A read that is not over after ReadTimeout fails the call, which says what it was. The next call
// tries again.
func TestReadTimeout(t *testing.T) {
	t.Parallel()
	hungUp := errors.New("hung up")
	for name, test := range map[string]struct {
		o    set.Options
		do   func(s *set.Set) error
		want string
	}{
		"Get opens":        {set.Options{}, getOf(60), "reading "},
		"Get":              {set.Options{OpenAll: true}, getOf(60), "reading "},
		"MayContain opens": {set.Options{}, func(s *set.Set) error { _, err := s.MayContain(background, []byte(key(60))); return err }, "reading "},
		"GetMany opens":    {set.Options{}, getManyOf(60, 70), "reading "},
		"GetMany":          {set.Options{OpenAll: true}, getManyOf(60), "reading "},
		"Iter opens":       {set.Options{}, seekTo(60), "reading "},
		"Iter":             {set.Options{OpenAll: true}, seekTo(60), "reading "},
		"Verify":           {set.Options{}, verify, "reading "},
		"mapped":           {set.Options{Reader: table.ReaderOptions{Mapped: true}}, getOf(60), "mapping "},
	} {
		for _, err := range []error{nil, hungUp} {
			t.Run(fmt.Sprint(name, ", ", err), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					src, m := numberedSet(t, 3, filtered)
					src.latency = time.Second
					test.o.ReadTimeout = 2 * time.Second
					s := open(t, m, stallingMapper{mapper{src}}, &test.o)
					src.before = stalled("t001", err)
					start := time.Now()
					got := test.do(s)
					checkTimeout(t, got, test.want, err)
					if took := time.Since(start); name != "Verify" && took != 2*time.Second {
						t.Errorf("it took %v, want 2 s", took)
					}
					src.before = nil
					if err := test.do(s); err != nil {
						t.Errorf("the next call: %v", err)
					}
					checkOut(t, s, nil)
				})
			})
		}
	}
}

// What follows are lookups of some numbers, and their errors.

func getOf(i int) func(*set.Set) error {
	return func(s *set.Set) error { _, err := s.Get(background, []byte(key(i))); return err }
}

func verify(s *set.Set) error { return s.Verify(background, nil) }

func getManyOf(numbers ...int) func(*set.Set) error {
	return func(s *set.Set) error {
		var keys [][]byte
		for _, i := range numbers {
			keys = append(keys, []byte(key(i)))
		}
		_, err := getMany(background, s, keys, nil)
		return err
	}
}

func seekTo(i int) func(*set.Set) error {
	return func(s *set.Set) error {
		it := s.NewIter(background, nil)
		defer it.Close()
		return moved(it, it.SeekGE([]byte(key(i))))
	}
}

// checkTimeout checks the error of a call of the table t001 that took longer than ReadTimeout. want
// is a part of it, and cause the Source's error.
func checkTimeout(t *testing.T, err error, want string, cause error) {
	t.Helper()
	if !errors.Is(err, context.DeadlineExceeded) || cause != nil && !errors.Is(err, cause) {
		t.Errorf("the error is %v, want DeadlineExceeded and %v", err, cause)
		return
	}
	for _, part := range []string{`table "t001"`, want, " bytes", "within ReadTimeout, 2s"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error is %v, want %s in it", err, part)
		}
	}
}

// Open and Swap with OpenAll end too, and a table whose reads stall is out until they do not.
func TestReadTimeoutOfOpenAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		src.before = stalled("t001", nil)
		o := set.Options{OpenAll: true, ReadTimeout: 2 * time.Second}
		_, err := set.Open(background, m, src, &o)
		checkTimeout(t, err, "reading ", nil)
		o.OnLoss = func(l table.Loss) bool { checkTimeout(t, l.Err, "reading ", nil); return true }
		s := open(t, m, src, &o)
		checkOut(t, s, context.DeadlineExceeded, "t001")
		checkTimeout(t, s.Reopen(background), "reading ", nil)
		src.before = nil
		noError(t, s.Reopen(background))
		checkGet(t, s, key(60), valueOf(60))
	})
}

// The context of a lookup that ends before ReadTimeout is that of the lookup's error, and leaves no
// table out.
func TestLookupThatEndsBeforeReadTimeout(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 3, filtered)
		for _, openAll := range []bool{false, true} {
			src.before = nil
			s := open(t, m, src, &set.Options{OpenAll: openAll, ReadTimeout: 2 * time.Second})
			src.before = stalled("t001", nil)
			ctx, cancel := context.WithTimeout(background, time.Second)
			_, err := s.Get(ctx, []byte(key(60)))
			cancel()
			if !errors.Is(err, context.DeadlineExceeded) || strings.Contains(err.Error(), "ReadTimeout") {
				t.Errorf("OpenAll %t: Get = %v, want DeadlineExceeded, and not of ReadTimeout", openAll, err)
			}
			synctest.Wait()
			checkOut(t, s, nil)
		}
	})
}

// A Source that does not return when its context is done holds up those that ask it, as it does
// without a limit. What it has read then is good.
func TestReadTimeoutOfADeafSource(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		src, m := numberedSet(t, 1, filtered)
		src.before = doing(func() { time.Sleep(time.Minute) })
		s := open(t, m, src, &set.Options{ReadTimeout: time.Second})
		checkTook(t, "Get, of two reads", 2*time.Minute, nil, func() error {
			checkGet(t, s, key(3), valueOf(3))
			return nil
		})
	})
}
