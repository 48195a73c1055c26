package set_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/set"
)

// A panicker panics in random calls, until it is disabled.
type panicker struct {
	mu    sync.Mutex
	rng   *rand.Rand
	every int // one of every calls panics; 0 means none
}

// errPanic is a panicker's panic value.
var errPanic = errors.New("a call that panics")

func (p *panicker) call() {
	p.mu.Lock()
	panics := p.every > 0 && p.rng.IntN(p.every) == 0
	p.mu.Unlock()
	if panics {
		panic(errPanic)
	}
}

func (p *panicker) set(every int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.every = every
}

// A panickingCodec is a codec whose calls panic.
type panickingCodec struct {
	table.Codec
	p *panicker
}

func (c panickingCodec) ID() byte { return 77 }
func (c panickingCodec) Decode(dst, src []byte, most int) ([]byte, error) {
	c.p.call()
	return c.Codec.Decode(dst, src, most)
}

// A panickingPolicy has filters that panic when they are opened or checked.
type panickingPolicy struct {
	filter.TablePolicy
	p *panicker
}

type panickingFilter struct {
	filter.TableFilter
	p *panicker
}

func (f panickingPolicy) Open(contents []byte) (filter.TableFilter, error) {
	f.p.call()
	opened, err := f.TablePolicy.Open(contents)
	return panickingFilter{opened, f.p}, err
}

func (f panickingFilter) Contains(key []byte) bool {
	f.p.call()
	return f.TableFilter.Contains(key)
}

// Whatever code of a program panics, in any call, nothing stays locked or in use. Afterwards lookups succeed, and
// Close and Drain end.
func TestAnyCallMayPanic(t *testing.T) {
	t.Parallel()
	for seed := range uint64(rounds(60, 2000)) {
		p := &panicker{rng: rand.New(rand.NewPCG(13, seed))}
		codec := panickingCodec{table.Snappy, p}
		policy := panickingPolicy{filter.NewTableBloom(10), p}
		src, m := numberedSet(t, 4, &table.WriterOptions{BlockSize: 256, Compression: codec, TableFilterPolicy: policy})
		src.before = doing(p.call)
		rng := rand.New(rand.NewPCG(14, seed))
		o := &set.Options{OpenAll: rng.IntN(2) == 0, MemorySize: int64(rng.IntN(3) * 2000), Concurrency: 1 + rng.IntN(3)}
		o.Reader = table.ReaderOptions{
			Codecs: []table.Codec{codec}, TableFilterPolicies: []filter.TablePolicy{policy},
			Cache: table.NewCache(int64(1 << (6 + rng.IntN(10)))),
		}
		s, err := set.Open(background, m, src, o)
		noError(t, err)
		c := calls{t, s, m, p, rng, s.NewIter(background, nil)}
		p.set(2 + rng.IntN(12))
		for range 100 {
			c.random()
		}
		p.set(0)
		c.end(seed)
	}
}

// calls make calls of a Set.
type calls struct {
	t   *testing.T
	s   *set.Set
	m   *set.Manifest
	p   *panicker
	rng *rand.Rand
	it  *set.Iter
}

// random makes a random call, which may panic.
func (c *calls) random() {
	defer func() {
		if r := recover(); r != nil && r != errPanic {
			panic(r)
		}
	}()
	k := []byte(key(c.rng.IntN(4 * perTable)))
	switch c.rng.IntN(10) {
	case 0:
		c.s.Get(background, k)
	case 1:
		c.s.MayContain(background, k)
	case 2:
		o := &table.GetManyOptions{NoAnswer: func(int, error) { c.p.call() }}
		c.s.GetMany(background, bytesOf(string(k), key(3), key(100)), o, func(int, []byte) error { c.p.call(); return nil })
	case 3:
		c.it.SeekGE(k)
	case 4:
		for range c.it.All() {
			c.p.call()
		}
	case 5:
		c.it.Close()
		c.it = c.s.NewIter(background, nil)
	case 6:
		c.s.Verify(background, func(set.Table, error) { c.p.call() })
	case 7:
		n := 1 + c.rng.IntN(len(c.m.Tables))
		c.s.Swap(background, &set.Manifest{Tables: c.m.Tables[:n]})
	case 8:
		c.s.FilterErr()
	case 9:
		c.s.Get(canceled(), k)
	}
}

// end checks that lookups succeed, and that Close and Drain end.
func (c *calls) end(seed uint64) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(background, 5*time.Minute) // only a hang takes that long
	defer cancel()
	if err := c.s.Swap(ctx, c.m); err != nil {
		c.t.Fatalf("seed %d: Swap = %v", seed, err)
	}
	for i := range 4 * perTable {
		if v, err := c.s.Get(ctx, []byte(key(i))); err != nil || !bytes.Equal(v, fmt.Appendf(nil, "value of %d", i)) {
			c.t.Fatalf("seed %d: Get(%q) = %q, %v", seed, key(i), v, err)
		}
	}
	c.it.Close()
	if err := errors.Join(c.s.Close(), c.s.Drain(ctx)); err != nil || c.s.MemorySize() != 0 {
		c.t.Fatalf("seed %d: Close and Drain = %v; %d bytes of open tables, want 0", seed, err, c.s.MemorySize())
	}
}
