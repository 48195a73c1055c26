package table_test

import (
	"bytes"
	"compress/flate"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// The law: what a Writer accepts, a Reader with the same Comparer, FilterKey and
// Codecs and otherwise default options reads, through every operation. Tables of
// extreme shapes, each in other blocks, orders, compressions and filters, are held
// to it.
func TestWhatIsWrittenIsRead(t *testing.T) {
	long.NoRace(t)
	rng := rand.New(rand.NewPCG(13, 1))
	rounds, large := 1, long.Enabled() && !testing.Short() && !long.Race
	if large {
		rounds = 5
	}
	for _, shape := range shapes {
		if shape.large && !large {
			continue
		}
		for range rounds {
			o := anyOptions(rng)
			if shape.many && o.Comparer == (falling{}) {
				o.BlockSize = min(o.BlockSize, 64<<10) // each key is compared whole, with all before it
			}
			name := fmt.Sprintf("%s, blocks of %d, restarts every %d, %s, codec %d, concurrency %d, filters %v %v",
				shape.name, o.BlockSize, o.RestartInterval, o.Comparer.Name(), o.Compression.ID(), o.Concurrency, o.FilterPolicy, o.TableFilterPolicy)
			checkLaw(t, name, &o, shape.pairs(o.Comparer))
		}
	}
}

// numberedKey returns keys that share all but their last digits.
func numberedKey(length int) func(i int) string {
	prefix := strings.Repeat("k", length-6)
	return func(i int) string { return fmt.Sprintf("%s%06d", prefix, i) }
}

// pairs are the shape's entries, in the order.
func (s shape) pairs(order table.Comparer) []workload.Pair {
	pairs := make([]workload.Pair, s.n)
	for i := range pairs {
		at := i
		if order == (falling{}) {
			at = s.n - 1 - i
		}
		key := []byte(s.key(at))
		if order.Name() == internalOrder.Name() {
			key = table.InternalKey{UserKey: key, Sequence: uint64(i), Kind: table.KindSet}.Append(nil)
		}
		pairs[i] = workload.Pair{Key: key, Value: make([]byte, s.size)}
	}
	return pairs
}

// falling is the bytewise order from the end, in which keys have to be compared whole.
type falling struct{}

func (falling) Compare(a, b []byte) int         { return bytes.Compare(b, a) }
func (falling) Name() string                    { return "falling" }
func (falling) Separator(_, _, _ []byte) []byte { return nil }
func (falling) Successor(_, _ []byte) []byte    { return nil }

// deflate compresses far more than Snappy can: what bounds work and memory by the
// length in the file is wrong for it.
type deflate struct{}

func (deflate) ID() byte { return 4 }

func (deflate) Encode(dst, src []byte) []byte {
	out := bytes.NewBuffer(dst)
	w, err := flate.NewWriter(out, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(src)
	}
	if err = errors.Join(err, w.Close()); err != nil {
		panic(err)
	}
	return out.Bytes()
}

func (deflate) Decode(dst, src []byte, limit int) ([]byte, error) {
	out := bytes.NewBuffer(dst)
	n, err := io.Copy(out, io.LimitReader(flate.NewReader(bytes.NewReader(src)), int64(limit)+1))
	if err == nil && n > int64(limit) {
		err = errors.New("too long")
	}
	return out.Bytes(), err
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func anyOptions(rng *rand.Rand) table.WriterOptions {
	o := table.WriterOptions{
		FilterPolicy:      pick[filter.Policy](rng, nil, filter.NewBloom(10), manyNames{}),
		TableFilterPolicy: pick[filter.TablePolicy](rng, nil, filter.NewTableBloom(10)),
		FilterBaseLg:      pick(rng, 1, 11, 30),
		Properties:        rng.IntN(2) == 0,
		BlockSize:         pick(rng, 1, 4096, 1<<20, 512<<20),
		RestartInterval:   pick(rng, 1, 16, math.MaxInt32),
		Compression:       pick[table.Codec](rng, table.NoCompression, table.Snappy, deflate{}),
		Comparer:          pick[table.Comparer](rng, table.BytewiseComparer, internalOrder, falling{}),
		Concurrency:       pick(rng, 1, 3),
	}
	if o.Comparer.Name() == internalOrder.Name() {
		o.FilterKey = table.InternalFilterKey
	}
	return o
}

// manyNames is a policy of as many names as a Writer takes, all of them long.
type manyNames struct{ filter.Bloom }

func (manyNames) String() string                 { return "of many names" }
func (manyNames) NewGenerator() filter.Generator { return filter.NewBloom(10).NewGenerator() }

func (manyNames) Aliases() []string {
	var names []string
	for i := range 990 {
		names = append(names, fmt.Sprintf("%s%03d", strings.Repeat("name", 255), i))
	}
	return names
}

// checkLaw writes pairs and reads them in every way.
func checkLaw(t *testing.T, name string, o *table.WriterOptions, pairs []workload.Pair) {
	t.Helper()
	contents := build(t, o, pairs)
	ro := table.ReaderOptions{Comparer: o.Comparer, FilterKey: o.FilterKey, Codecs: []table.Codec{deflate{}}}
	r := open(t, contents, &ro)
	cached := ro
	cached.Cache = table.NewCache(64 << 20)
	err := errors.Join(
		r.FilterErr(), r.Verify(), lookUp(r, pairs), lookUp(open(t, contents, &cached), pairs),
		iterate(r, pairs), seek(r, pairs), describe(r, o.Properties), takeApart(contents, &ro),
	)
	if err != nil {
		t.Errorf("%s: %s", name, clip(err))
	}
}

func clip(err error) string {
	text := err.Error()
	return text[:min(len(text), 2000)]
}

func lookUp(r *table.Reader, pairs []workload.Pair) error {
	for i := 0; i < len(pairs); i += 1 + len(pairs)/10 {
		p := pairs[i]
		for _, get := range []func() ([]byte, error){
			func() ([]byte, error) { return r.Get(p.Key) },
			func() ([]byte, error) { return r.AppendGet(nil, p.Key) },
			func() ([]byte, error) { k, v, err := r.Find(p.Key); return v, errors.Join(err, same(k, p.Key)) },
		} {
			if value, err := get(); err != nil || !bytes.Equal(value, p.Value) {
				return fmt.Errorf("lookup of key %d: %d bytes, %w", i, len(value), err)
			}
		}
		absent := append(bytes.Clone(p.Key), "~absent.sequence"...)
		if _, err := r.Get(absent); !errors.Is(err, table.ErrNotFound) {
			return fmt.Errorf("lookup of an absent key behind key %d: %w", i, err)
		}
	}
	return nil
}

func same(got, want []byte) error {
	if !bytes.Equal(got, want) {
		return fmt.Errorf("key of %d bytes, want one of %d", len(got), len(want))
	}
	return nil
}

// iterate goes over all entries in both directions.
func iterate(r *table.Reader, pairs []workload.Pair) error {
	it := r.NewIter(&table.IterOptions{ReadAhead: 1 << 20})
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n == len(pairs) || it.Key() == nil || it.Value() == nil || !bytes.Equal(it.Key(), pairs[n].Key) || !bytes.Equal(it.Value(), pairs[n].Value) {
			return fmt.Errorf("forward: entry %d is another", n)
		}
		n++
	}
	for ok := it.Last(); ok; ok = it.Prev() {
		if n--; n < 0 || it.Key() == nil || !bytes.Equal(it.Key(), pairs[n].Key) {
			return fmt.Errorf("backward: entry %d is another", n)
		}
	}
	if err := it.Close(); err != nil || n != 0 {
		return fmt.Errorf("%d entries are missing backward: %w", n, err)
	}
	return nil
}

func seek(r *table.Reader, pairs []workload.Pair) error {
	it := r.NewIter(nil)
	for i := 0; i < len(pairs); i += 1 + len(pairs)/20 {
		if !it.SeekGE(pairs[i].Key) || !bytes.Equal(it.Key(), pairs[i].Key) {
			return fmt.Errorf("SeekGE of key %d: %w", i, it.Error())
		}
		if it.SeekLT(pairs[i].Key) != (i > 0) || i > 0 && !bytes.Equal(it.Key(), pairs[i-1].Key) {
			return fmt.Errorf("SeekLT of key %d: %w", i, it.Error())
		}
	}
	first, err := r.FirstKey()
	last, lastErr := r.LastKey()
	if len(pairs) == 0 {
		return it.Close()
	}
	return errors.Join(it.Close(), err, lastErr, same(first, pairs[0].Key), same(last, pairs[len(pairs)-1].Key))
}

func describe(r *table.Reader, properties bool) error {
	_, err := r.Properties()
	if !properties && errors.Is(err, table.ErrNotFound) {
		return nil
	}
	return err
}

// takeApart reads each block that a Layout knows.
func takeApart(contents []byte, o *table.ReaderOptions) error {
	l, err := table.ReadLayout(bytes.NewReader(contents), int64(len(contents)), o)
	if err != nil {
		return err
	}
	parts, err := l.Meta()
	if err != nil {
		return err
	}
	if _, err := l.Filters(); err != nil {
		return err
	}
	for _, e := range l.Data {
		parts = append(parts, table.MetaindexEntry{Handle: e.Handle})
	}
	for _, p := range parts {
		if _, _, err := l.ReadBlock(p.Handle); err != nil {
			return err
		}
	}
	return nil
}

// Where a bound must stand, the Writer refuses.
func TestWriterRefusesWhatNoReaderTakes(t *testing.T) {
	t.Parallel()
	for name, o := range map[string]table.WriterOptions{
		"a long name":          {FilterPolicy: filter.Rename(filter.NewBloom(10), strings.Repeat("n", 1025))},
		"too many names":       {FilterPolicy: tooManyNames{}, TableFilterPolicy: filter.NewTableBloom(10)},
		"a long comparer name": {Comparer: longNamed{}, Properties: true},
	} {
		if _, err := table.NewWriter(io.Discard, &o); err == nil {
			t.Errorf("%s: NewWriter reports nothing", name)
		}
	}
}

type tooManyNames struct{ manyNames }

func (tooManyNames) Aliases() []string {
	return append(manyNames{}.Aliases(), "1", "2", "3", "4", "5", "6", "7", "8")
}

type longNamed struct{ falling }

func (longNamed) Name() string { return strings.Repeat("n", 1025) }
