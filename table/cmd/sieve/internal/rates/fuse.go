package rates

import (
	"github.com/sievetable/sievetable/filter"
	"github.com/sievetable/sievetable/filter/fuse"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
)

// A fuseFilter is a binary fuse filter. It cannot take more keys, and is rebuilt with them.
type fuseFilter struct {
	policy   fuse.Policy
	sizedFor int        // number of keys
	added    [][][]byte // the keys of each add
	filter   filter.TableFilter
}

func planFuse(_ int, rate float64) (int, error) {
	p, err := fuse.ForRate(rate)
	if err != nil {
		return 0, cli.UsageErrorf("-p is %g, and fuse filters have at least 2^-16, or 0.0015 %%: use a higher rate, or --policy bloom", rate)
	}
	return p.Bits(), nil
}

func emptyFuse(keys, fingerprintBits, _ int) (measuredFilter, error) {
	p, err := fuse.New(fingerprintBits)
	if err != nil {
		return nil, cli.UsageErrorf("--bits for --policy fuse: %w", err)
	}
	return &fuseFilter{policy: p, sizedFor: keys}, nil
}

func (f *fuseFilter) add(keys [][]byte) error {
	f.added = append(f.added, keys)
	g := f.policy.NewTableGenerator()
	for _, keys := range f.added {
		for _, key := range keys {
			g.Add(key)
		}
	}
	contents, err := g.Generate()
	if err != nil {
		return err
	}
	f.filter, err = f.policy.Open(contents)
	return err
}

func (f *fuseFilter) contains(key []byte) bool { return f.filter.Contains(key) }

// size returns the length with the keys that the filter is sized for, and the number of
// fingerprints that a lookup reads.
func (f *fuseFilter) size() (m, k int) { return 8 * f.policy.Size(f.sizedFor), 3 }

func (f *fuseFilter) formula(float64) float64 { return f.policy.Rate() }
