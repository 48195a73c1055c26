package main

import (
	"errors"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/dbdamage"
	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/internalkey"
)

// A span is the byte range of a write in a file: a data block of a table, or a batch of a log.
type span struct {
	sequence uint64
	from, to int64
}

// stored says where the files of a database contain its writes.
type stored struct {
	spans    map[string][]span // by file
	obsolete map[string]bool   // files that are obsolete according to the MANIFEST
}

// readStored finds the writes in the files of a sound database.
func readStored(dir string) (s stored, err error) {
	s = stored{map[string][]span{}, map[string]bool{}}
	manifests, err := filepath.Glob(filepath.Join(dir, "MANIFEST-*"))
	if err != nil || len(manifests) != 1 {
		return s, errors.Join(err, errors.New("not exactly one MANIFEST"))
	}
	h, err := versions.ReadHistory(dir, filepath.Base(manifests[0]))
	if err != nil {
		return s, err
	}
	return s, errors.Join(s.read(dir, ".ldb", spansOfTable, h.IsObsoleteTable), s.read(dir, ".log", spansOfLog, h.IsObsoleteLog))
}

// read reads the files with an extension.
func (s *stored) read(dir, ext string, spansOf func(string) ([]span, error), isObsolete func(uint64) bool) error {
	paths, err := filepath.Glob(filepath.Join(dir, "*"+ext))
	for _, path := range paths {
		name := filepath.Base(path)
		spans, failed := spansOf(path)
		number, wrong := strconv.ParseUint(strings.TrimSuffix(name, ext), 10, 64)
		err = errors.Join(err, failed, wrong)
		s.spans[name], s.obsolete[name] = spans, isObsolete(number)
	}
	return err
}

// spansOfTable returns the spans of a table. A table that the engine did not finish before it was closed has none.
func spansOfTable(path string) (all []span, err error) {
	r, err := table.Open(path, &table.ReaderOptions{Comparer: table.InternalComparer(table.BytewiseComparer)})
	if errors.Is(err, table.ErrCorrupt) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	it := r.NewIter(nil)
	for ok := it.First(); ok; ok = it.Next() {
		k, _ := internalkey.Parse(it.Key())
		b := it.Block()
		all = append(all, span{k.Sequence, int64(b.Offset), int64(b.Offset + b.Length + format.TrailerLen)})
	}
	return all, errors.Join(it.Close(), r.Close())
}

func spansOfLog(path string) (all []span, err error) {
	err = eachBatch(path, func(record []byte, from, to int64) error {
		for w, err := range wal.Writes(record) {
			if err != nil {
				return err
			}
			all = append(all, span{w.Sequence, from, to})
		}
		return nil
	})
	return all, err
}

// A survival is the set of writes that are still undamaged.
type survival struct {
	live, obsolete map[uint64]bool // by sequence number, in files of that kind
	end            uint64          // all writes from here on are lost, as after a crash
}

// after returns the writes that survive the damages.
func (s *stored) after(damages []dbdamage.Damage) survival {
	left := survival{live: map[uint64]bool{}, obsolete: map[uint64]bool{}}
	for file, spans := range s.spans {
		kind := left.live
		if s.obsolete[file] {
			kind = left.obsolete
		}
		for _, w := range spans {
			if !isHit(damages, file, w) {
				kind[w.sequence] = true
				left.end = max(left.end, w.sequence+1)
			}
		}
	}
	return left
}

func isHit(damages []dbdamage.Damage, file string, w span) bool {
	return slices.ContainsFunc(damages, func(d dbdamage.Damage) bool { return d.File == file && d.Overlaps(w.from, w.to) })
}
