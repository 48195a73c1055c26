package report

import (
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/tablestats"
)

// maxSample is the length of the longest example key.
const maxSample = 80

// samples picks example keys to look up: two that are in the table, and one that is not.
func (m *Model) samples(f *dbfile.File) {
	if m.Order != "" {
		return
	}
	data := f.Layout.Data
	for _, i := range []int{0, len(data) / 2} {
		if i >= len(data) || i == 0 && len(m.Samples) > 0 { // do not pick from the same block twice
			continue
		}
		if key := firstKey(f, i); len(key) <= maxSample && key != nil {
			m.Samples = append(m.Samples, key)
		}
	}
	if len(m.Samples) == 0 {
		return
	}
	absent := append([]byte{}, m.Samples[len(m.Samples)-1]...)
	absent = append(absent, "~"...)
	if _, found, err := f.Get(absent); err == nil && !found {
		m.Samples = append(m.Samples, absent)
	}
}

// firstKey returns the user key of the first entry of data block i, or nil.
func firstKey(f *dbfile.File, i int) []byte {
	b, err := tablestats.ReadBlock(f, f.Layout.Data[i])
	if err == nil && b.Iter.First() {
		return append([]byte{}, f.FilterKey(b.Iter.Key())...)
	}
	return nil
}
