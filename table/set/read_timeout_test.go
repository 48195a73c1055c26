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

// A stallingMapper is a mapper whose Map stalls like its reads.
type stallingMapper struct{ mapper }

func (s stallingMapper) Map(ctx context.Context, name string) (io.ReaderAt, int64, error) {
	if s.before != nil {
		if _, err, done := s.before(ctx, name, nil, 0); done {
			return nil, 0, err
		}
	}
	return s.mapper.Map(ctx, name)
}

// If a read exceeds ReadTimeout, the call fails with an error that names the read. The next call tries again.
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
					checkUnavailable(t, s, nil)
				})
			})
		}
	}
}

// The following functions do lookups of numbers' keys, and return their errors.

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

// checkTimeout checks the error of a call for the table t001 that exceeded ReadTimeout. want is a part of the error,
// and cause is the Source's error.
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

// With OpenAll, Open and Swap end too, and a table is unavailable as long as its reads stall.
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
		checkUnavailable(t, s, context.DeadlineExceeded, "t001")
		checkTimeout(t, s.Reopen(background), "reading ", nil)
		src.before = nil
		noError(t, s.Reopen(background))
		checkGet(t, s, key(60), valueOf(60))
	})
}

// If a lookup's context ends before ReadTimeout, the lookup returns the context's error, and no table becomes
// unavailable.
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
			checkUnavailable(t, s, nil)
		}
	})
}

// If a Source ignores its context, lookups wait for it, as they do without a limit. What it then returns is used.
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
