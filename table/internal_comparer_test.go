package table_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// userKeys is the bytewise order of keys that start with "user". It panics for others.
type userKeys struct{}

func (userKeys) check(keys ...[]byte) {
	for _, k := range keys {
		if !bytes.HasPrefix(k, []byte("user")) {
			panic(fmt.Sprintf("%q is no user key", k))
		}
	}
}

func (u userKeys) Compare(a, b []byte) int {
	u.check(a, b)
	return bytes.Compare(a, b)
}

func (userKeys) Name() string { return "test.UserKeys" }

func (u userKeys) Separator(dst, a, b []byte) []byte {
	u.check(a, b)
	return table.BytewiseComparer.Separator(dst, a, b)
}

func (u userKeys) Successor(_, b []byte) []byte {
	u.check(b)
	return nil
}

// The Comparer of user keys is given nothing but user keys: also when tables have keys that are
// too short for an internal key, and when such keys are looked up.
func TestInternalComparerGivesUserKeysOnly(t *testing.T) {
	t.Parallel()
	c := table.InternalComparer(userKeys{})
	var pairs []workload.Pair
	for i := range 8 {
		pairs = append(pairs, workload.Pair{Key: bytes.Repeat([]byte{'x'}, i)})
	}
	for i := range 200 {
		for sequence := uint64(3); sequence > 0; sequence-- {
			pairs = append(pairs, workload.Pair{Key: internalKey(fmt.Sprintf("user%03d", i), sequence, table.KindSet), Value: []byte("value")})
		}
	}
	contents := build(t, &table.WriterOptions{Comparer: c, BlockSize: 100, FilterPolicy: filter.NewBloom(10)}, pairs)
	r := open(t, contents, &table.ReaderOptions{Comparer: c, Cache: table.NewCache(1 << 20)})
	if err := r.Verify(); err != nil {
		t.Error(err)
	}
	for _, p := range pairs {
		for _, o := range []*table.IterOptions{nil, {Lower: p.Key}, {Upper: p.Key}} {
			it := r.NewIter(o)
			it.SeekGE(p.Key)
			it.SeekLT(p.Key)
			if err := it.Close(); err != nil {
				t.Errorf("%q: %v", p.Key, err)
			}
		}
		if got, err := r.Get(p.Key); err != nil || !bytes.Equal(got, p.Value) {
			t.Errorf("Get(%q) = %q, %v", p.Key, got, err)
		}
		if _, _, err := r.FindGE(p.Key); err != nil {
			t.Errorf("FindGE(%q): %v", p.Key, err)
		}
		r.ApproximateOffset(p.Key)
	}
}

// An InternalComparer of an InternalComparer is the same order of the same keys.
func TestInternalComparerTwice(t *testing.T) {
	t.Parallel()
	newer, older := internalKey("user1", 2, table.KindSet), internalKey("user1", 1, table.KindSet)
	for _, user := range []table.Comparer{nil, userKeys{}} {
		c := table.InternalComparer(table.InternalComparer(user))
		if got := c.Compare(newer, older); got >= 0 {
			t.Errorf("%v: Compare of two versions = %d, want the newer one first", user, got)
		}
		if got := c.(table.FilterKeyer).FilterKey(newer); string(got) != "user1" {
			t.Errorf("%v: FilterKey = %q, want user1", user, got)
		}
	}
	any := table.InternalComparer(table.AnyOrder)
	if got := table.InternalComparer(any); got != any {
		t.Errorf("InternalComparer(%#v) = %#v, want the same", any, got)
	}
}
