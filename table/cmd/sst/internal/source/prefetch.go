package source

import (
	"context"
	"path/filepath"

	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// prefetchGap is how many bytes between blocks are read with them. Over a network they take as long as a request.
const prefetchGap = 64 << 10

// Prefetch reads what Get needs for keys of a remote set, several tables and blocks at a time. Without
// Options.KeepBlocks it does nothing. Get returns the errors.
func (s *Source) Prefetch(keys [][]byte) {
	if !s.o.KeepBlocks || !s.isSet() || !files.IsRemote(s.Path) {
		return
	}
	candidates, found := make([][]*Table, len(keys)), make([]bool, len(keys))
	for i, key := range keys {
		candidates[i] = s.candidates(key)
	}
	for age := 0; ; age++ {
		asked := map[*Table][]int{}
		for i, tables := range candidates {
			if age < len(tables) && !found[i] {
				asked[tables[age]] = append(asked[tables[age]], i)
			}
		}
		if len(asked) == 0 {
			return
		}
		s.prefetchFrom(asked, keys, found)
	}
}

// prefetchFrom reads the blocks of tables that may have keys, by their indexes, and notes which are found.
func (s *Source) prefetchFrom(asked map[*Table][]int, keys [][]byte, found []bool) {
	s.fetch(asked)
	var parts []table.GetManyPart
	opened := map[*Table]*dbfile.File{}
	for t, wanted := range asked {
		if f, err := s.open(t); err == nil {
			opened[t] = f
			parts = append(parts, table.GetManyPart{Reader: f.Reader, Keys: wanted})
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

// fetch reads what opens tables.
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
