package table_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// A user works with a Reader that others use, and that one of them closes.
type user struct {
	r      *table.Reader
	pairs  []workload.Pair
	closed *atomic.Bool // set before the Reader is closed
	kept   map[string][]byte
}

// may returns err unless it is allowed: ErrClosed, once the Reader may be closed.
func (u *user) may(err error) error {
	if errors.Is(err, table.ErrClosed) && u.closed.Load() {
		return nil
	}
	return err
}

func (u *user) get(rng *rand.Rand) error {
	p := u.pairs[rng.IntN(len(u.pairs))]
	v, err := u.r.Get(p.Key)
	if err != nil {
		return u.may(err)
	}
	if !bytes.Equal(v, p.Value) {
		return fmt.Errorf("Get(%q) = %q", p.Key, v)
	}
	u.kept[string(p.Key)] = v
	if _, err = u.r.Get(append(bytes.Clone(p.Key), 'x')); err == nil {
		return fmt.Errorf("Get of an absent key finds something")
	} else if errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return u.may(err)
}

func (u *user) getMany(rng *rand.Rand) error {
	pairs := make([]workload.Pair, 40)
	for i := range pairs {
		pairs[i] = u.pairs[rng.IntN(len(u.pairs))]
	}
	values, err := getMany(u.r, allKeys(pairs), &table.GetManyOptions{Gap: rng.IntN(10_000)})
	for i, v := range values {
		if err == nil && !bytes.Equal(v, pairs[i].Value) {
			return fmt.Errorf("GetMany finds %q for %q", v, pairs[i].Key)
		}
		if v != nil {
			u.kept[string(pairs[i].Key)] = v
		}
	}
	return u.may(err)
}

func (u *user) iterate(rng *rand.Rand) error {
	it := u.r.NewIter(nil)
	defer it.Close()
	i := rng.IntN(len(u.pairs))
	move, step := it.Next, 1
	if rng.IntN(2) == 0 {
		move, step = it.Prev, -1
	}
	for ok := it.SeekGE(u.pairs[i].Key); ok; ok = move() {
		if !bytes.Equal(it.Key(), u.pairs[i].Key) || !bytes.Equal(it.Value(), u.pairs[i].Value) {
			return fmt.Errorf("entry %d is %q=%q", i, it.Key(), it.Value())
		}
		i += step
	}
	if it.Error() == nil && i != -1 && i != len(u.pairs) {
		return fmt.Errorf("iteration ends at entry %d", i)
	}
	return u.may(it.Error())
}

// Sixteen goroutines look up, iterate and verify with one Reader, until one of them closes it: results are right,
// then ErrClosed. Values from Get remain unchanged when the Reader is closed, its memory is reused and its file is
// gone.
func TestReaderIsSafeForConcurrentUse(t *testing.T) {
	pairs := numbered(2000)
	for _, codec := range []table.Codec{table.Snappy, table.NoCompression} {
		contents := build(t, &table.WriterOptions{FilterPolicy: withBloom.FilterPolicy, Compression: codec}, pairs)
		for _, mapped := range []bool{false, true} {
			name := writeTable(t, contents)
			r, err := table.Open(name, &table.ReaderOptions{Metrics: new(table.Metrics), Mapped: mapped})
			noError(t, err)
			users := workTogether(t, r, pairs, 16)
			noError(t, os.Remove(name))
			checkKept(t, users, pairs)
			checkError(t, "Verify", r.Verify(), table.ErrClosed, "")
		}
	}
}

// workTogether runs n users of r until the first one closes it.
func workTogether(t *testing.T, r *table.Reader, pairs []workload.Pair, n int) []user {
	t.Helper()
	var closed atomic.Bool
	users := make([]user, n)
	var all sync.WaitGroup
	for i := range users {
		u := &users[i]
		*u = user{r, pairs, &closed, map[string][]byte{}}
		all.Go(func() {
			if err := u.work(uint64(i)); err != nil {
				t.Errorf("user %d: %v", i, err)
			}
		})
	}
	all.Wait()
	return users
}

// work works until the Reader is closed, which the first user does.
func (u *user) work(number uint64) error {
	rng := rand.New(rand.NewPCG(number, 0))
	for round := 0; ; round++ {
		last := u.closed.Load()
		var err error
		switch {
		case number == 0 && round == 300:
			u.closed.Store(true)
			return u.r.Close()
		case number < 2 || number%4 == 0:
			err = u.get(rng)
		case number < 5:
			err = u.may(u.r.Verify())
		case number < 8:
			err = u.getMany(rng)
		default:
			err = errors.Join(u.iterate(rng), u.get(rng))
		}
		if err != nil || last {
			return err
		}
	}
}

// checkKept checks the values that users kept, after memory was reused.
func checkKept(t *testing.T, users []user, pairs []workload.Pair) {
	t.Helper()
	other := open(t, build(t, nil, slices.Concat(pairsOf("a"), pairs)), nil)
	forward(t, other.NewIter(nil))
	runtime.GC()
	for i, u := range users {
		for k, v := range u.kept {
			if string(v) != "value of "+k {
				t.Fatalf("user %d kept %q for %q", i, v, k)
			}
		}
	}
}

// If the Reader is closed before Except copies the file, Except returns ErrClosed like other methods.
func TestCloseDuringExcept(t *testing.T) {
	t.Parallel()
	r := openFile(t, build(t, &table.WriterOptions{TableFilterPolicy: filter.NewTableBloom(10)}, numbered(100)), nil)
	_, err := r.Except(io.Discard, func(func([]byte, error) bool) { noError(t, r.Close()) })
	checkError(t, "Except", err, table.ErrClosed, "")
}
