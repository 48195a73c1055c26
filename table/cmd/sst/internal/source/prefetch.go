package source

import (
	"context"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// prefetchGap is the largest gap between blocks that are read in one request. Over a network, reading this many
// bytes takes as long as a request.
const prefetchGap = 64 << 10

// Prefetch reads the blocks of a remote set that Get will need for keys, from several tables at a time. Without
// Options.KeepBlocks it does nothing. Errors are left to Get.
func (s *Source) Prefetch(keys [][]byte) {
	if !s.o.KeepBlocks || !s.isSet() || !files.IsRemote(s.Path) {
		return
	}
	candidates, found := make([][]*Table, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		candidates[i] = s.candidates(key)
	}
	for age := 0; ; age++ {
		wanted := map[*Table][]int{}
		for i, tables := range candidates {
			if age < len(tables) && !found[i] {
				wanted[tables[age]] = append(wanted[tables[age]], i)
			}
		}
		if len(wanted) == 0 {
			return
		}
		s.prefetchFrom(wanted, keys, found)
	}
}

// prefetchFrom reads the blocks that may contain the wanted keys, by the indexes of their tables. It sets found for
// keys that it finds.
func (s *Source) prefetchFrom(wanted map[*Table][]int, keys [][]byte, found []bool) {
	s.fetch(wanted)
	var parts []table.GetManyPart
	opened := map[*Table]*dbfile.File{}
	for t, positions := range wanted {
		if f, err := s.open(t); err == nil {
			opened[t] = f
			parts = append(parts, table.GetManyPart{Reader: f.Reader, Keys: positions})
		}
	}
	table.GetMany(context.Background(), keys, parts, &table.GetManyOptions{Gap: prefetchGap}, func(i int, _ []byte) error {
		found[i] = true
		return nil
	})
	for t, f := range opened {
		s.release(t, f) // it was only read
	}
}

// fetch reads the tails of tables, so that opening them takes no further requests.
func (s *Source) fetch(tables map[*Table][]int) {
	var names []string
	for t := range tables {
		if t.file == nil && t.damage == nil && !t.Missing {
			files.Expect(t.Path, files.Reads{Tail: t.Line.TailSize})
			names = append(names, filepath.Base(t.Path))
		}
	}
	files.Fetch(files.Dir(s.dir.Set), names)
}
