package table_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/table"
)

// otherHash has filters of another name, which take hashes of 32 bits of their own.
type otherHash struct{ filter.TableBloom }

func (otherHash) Name() string { return "test.OtherHash" }

func (p otherHash) Open(contents []byte) (filter.TableFilter, error) {
	f, err := p.TableBloom.Open(contents)
	return hashedOtherwise{f}, err
}

type hashedOtherwise struct{ filter.TableFilter }

func (hashedOtherwise) ContainsHash(uint32) bool { return false }

// A HashedKey has the answers of MayContain, and they are counted alike: whatever filters tables have,
// with the hash of a key or of a part of it, and whether they may be believed or not.
func TestMayContainHashedIsMayContain(t *testing.T) {
	t.Parallel()
	firstBytes := func(key []byte) []byte { return key[:min(len(key), 6)] }
	denying := func(key []byte) []byte { return append([]byte("no"), key...) }
	bloom, whole := filter.NewBloom(10), filter.NewTableBloom(4)
	other := otherHash{filter.NewTableBloom(10)}
	pairs := numbered(2000)
	for name, o := range map[string]struct {
		w    table.WriterOptions
		read func(key []byte) []byte // FilterKey
	}{
		"no filter":            {},
		"by blocks":            {w: table.WriterOptions{FilterPolicy: bloom}},
		"of the table":         {w: table.WriterOptions{TableFilterPolicy: whole}},
		"both":                 {w: table.WriterOptions{FilterPolicy: bloom, TableFilterPolicy: whole}},
		"with exceptions":      {w: table.WriterOptions{TableFilterPolicy: whole, Never: absentKeys(500)}},
		"of parts of keys":     {w: table.WriterOptions{TableFilterPolicy: whole, FilterKey: firstBytes}, read: firstBytes},
		"of another FilterKey": {w: table.WriterOptions{TableFilterPolicy: whole}, read: denying},
		"of another hash":      {w: table.WriterOptions{TableFilterPolicy: other}},
		"that denies its keys": {w: table.WriterOptions{TableFilterPolicy: whole, FilterKey: denying}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contents := build(t, &o.w, pairs)
			var ms [2]table.Metrics
			var rs [2]*table.Reader
			for i := range rs {
				rs[i] = open(t, contents, &table.ReaderOptions{FilterKey: o.read, Metrics: &ms[i], TableFilterPolicies: []filter.TablePolicy{other}})
			}
			rng := rand.New(rand.NewPCG(7, 7))
			for range 5000 {
				key := fmt.Appendf(nil, "key%0*d%s", 1+rng.IntN(6), rng.IntN(4000), []string{"", "", "x", "\xff\xfe"}[rng.IntN(4)])
				if rng.IntN(2) == 0 {
					key = pairs[rng.IntN(len(pairs))].Key
				}
				k := table.HashKey(key)
				for range 2 { // the second time with a hash that is known
					if want, got := rs[0].MayContain(key), rs[1].MayContainHashed(&k); got != want {
						t.Fatalf("%q: %v, want %v", key, got, want)
					}
				}
			}
			if diff := cmp.Diff(ms[0].Snapshot(), ms[1].Snapshot()); diff != "" {
				t.Errorf("counts (-MayContain +MayContainHashed):\n%s", diff)
			}
		})
	}
	k := table.HashKey(nil)
	if r := open(t, build(t, &table.WriterOptions{TableFilterPolicy: whole}, pairs), nil); r.MayContainHashed(&k) != r.MayContain(nil) {
		t.Error("the empty key has two answers")
	}
}
