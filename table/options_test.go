package table_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/internal/workload"
	"github.com/sievetable/sievetable/table"
)

// No options, no key, no value: defaults, the empty key, the empty value.
func TestNothingIsEmpty(t *testing.T) {
	t.Parallel()
	for _, empty := range [][]byte{nil, {}} {
		pairs := []workload.Pair{{Key: empty, Value: empty}}
		for _, o := range []*table.WriterOptions{nil, {}, withBloom} {
			r := open(t, build(t, o, pairs), nil)
			if err := r.Verify(); err != nil {
				t.Errorf("Verify = %v", err)
			}
			for _, key := range [][]byte{nil, {}} {
				v, err := r.Get(key)
				if len(v) != 0 || err != nil {
					t.Errorf("Get of the empty key = %q, %v", v, err)
				}
				it := r.NewIter(&table.IterOptions{})
				if !it.SeekGE(key) || len(it.Key()) != 0 || it.SeekLT(key) || it.Error() != nil {
					t.Errorf("seeks of the empty key: at %q, %v", it.Key(), it.Error())
				}
			}
			if _, err := r.Get([]byte{0}); !errors.Is(err, table.ErrNotFound) {
				t.Errorf("Get = %v, want ErrNotFound", err)
			}
		}
	}
	var w, again bytes.Buffer
	for _, out := range []*bytes.Buffer{&w, &again} {
		tw, err := table.NewWriter(out, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := tw.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if r := open(t, w.Bytes(), nil); forward(t, r.NewIter(nil)) != nil || backward(t, r.NewIter(nil)) != nil || r.Verify() != nil {
		t.Error("a table without entries has some")
	}
}

// Lists in the options may have nothing in them.
func TestNilPoliciesAndCodecs(t *testing.T) {
	t.Parallel()
	o := &table.ReaderOptions{FilterPolicies: []filter.Policy{nil}, Codecs: []table.Codec{nil}}
	r := open(t, build(t, withBloom, numbered(100)), o)
	checkLookups(t, r, numbered(100))
	if err := errors.Join(r.FilterErr(), r.Verify()); err != nil {
		t.Error(err)
	}
}

// The order is not stored in a table. With another than it was written in, it
// reads as damaged, or keys are not found; what is found is in the table.
func TestWrongComparer(t *testing.T) {
	pairs := numbered(300)
	var falling []workload.Pair
	for i := range pairs {
		falling = append(falling, pairs[len(pairs)-1-i])
	}
	rng := rand.New(rand.NewPCG(1, 1))
	orders := map[string]table.Comparer{
		"bytewise":      table.BytewiseComparer,
		"descending":    descendingComparer{},
		"all equal":     orderOf(func() int { return 0 }),
		"never above":   orderOf(func() int { return -1 }),
		"always above":  orderOf(func() int { return 1 }),
		"as it happens": orderOf(func() int { return rng.IntN(3) - 1 }),
	}
	for written, o := range map[string]*table.WriterOptions{
		"bytewise":   {FilterPolicy: filter.NewBloom(10), BlockSize: 200},
		"descending": {FilterPolicy: filter.NewBloom(10), BlockSize: 200, Comparer: descendingComparer{}},
	} {
		in := pairs
		if written == "descending" {
			in = falling
		}
		contents := build(t, o, in)
		for read, c := range orders {
			if read == written {
				continue
			}
			name := "written " + written + ", read " + read
			o := &table.ReaderOptions{Comparer: c}
			i := inspect(t, name, contents, o, truthOf(pairs...))
			if (read == "bytewise" || read == "descending") && i.verified == nil {
				t.Errorf("%s: Verify reports nothing", name)
			}
		}
	}
}

// orderOf is no order.
func orderOf(compare func() int) table.Comparer {
	return noOrder{Comparer: table.BytewiseComparer, Func: func(a, b []byte) int { return compare() }}
}
