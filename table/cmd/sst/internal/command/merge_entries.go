package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wire"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/merge"
)

// The values of --on-duplicate: which entry of a key wins.
const (
	ruleAuto   = "auto" // one of the next two
	ruleNewest = "newest"
	ruleLast   = "last"
	ruleFirst  = "first"
	ruleError  = "error"
)

// A merging merges the newest entries of sources.
type merging struct {
	ctx     context.Context
	sources []*source.Source // the ones that win over others first, if not the sequence numbers decide
	order   table.Comparer   // of user keys
	rule    string           // not ruleAuto
	others  bool             // they have sequence numbers of several databases, which do not decide

	last    mergedEntry // the last one that won, without its value
	counted bool        // its key is in common
	highest uint64      // sequence number of all that was read, and of the MANIFESTs
	common  uint64      // number of keys of which an entry lost
	deleted uint64      // number of those that are left out, because a deletion won
}

// newMerging checks whether the sources can be merged. rule is the value of --on-duplicate.
func newMerging(ctx context.Context, all []*source.Source, rule string) (*merging, error) {
	m := &merging{ctx: ctx, rule: rule, order: all[0].Order}
	var plain *source.Source // one without sequence numbers
	for _, s := range all {
		if !s.HasKeys() {
			continue
		}
		m.sources, m.highest = append(m.sources, s), max(m.highest, s.LastSequence())
		if err := m.sources[0].SameOrder(s); err != nil {
			return nil, err
		}
		if m.order = s.Order; !s.Internal {
			plain = s
		}
	}
	switch {
	case rule == ruleNewest && plain != nil:
		return nil, cli.UsageErrorf("--on-duplicate is newest, but the keys of %s have no sequence numbers: want last, first or error", plain.Path)
	case rule == ruleAuto && plain == nil && !areOfDatabases(m.sources):
		m.rule = ruleNewest
	case rule == ruleAuto:
		m.rule, m.others = ruleLast, plain == nil
	}
	if m.rule == ruleLast || m.rule == ruleNewest {
		slices.Reverse(m.sources)
	}
	return m, nil
}

// areOfDatabases reports whether two sources are of different databases: directories, or of files in
// those.
func areOfDatabases(all []*source.Source) bool {
	database := "" // the first one's directory
	for _, s := range all {
		dir := directoryOf(s.Path)
		if name, _ := versions.FindCurrentOrManifest(dir); name == "" && !s.Dir {
			continue // a part of any
		}
		if dir = dbdir.RealName(dir); database != "" && dir != database {
			return true
		}
		database = dir
	}
	return false
}

// directoryOf returns the directory that a source is, or is in.
func directoryOf(path string) string {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return path
	}
	return filepath.Dir(path)
}

// A mergedInput is the newest entries of a source, for a merge.Iter that moves from the first to the
// last: it calls no other moves.
type mergedInput struct {
	merge.Iterator // nil
	sourceCursor
	stop     func()
	versions bool   // keys are internal keys, so that the highest sequence number comes first
	key      []byte // of the entry
}

func (in *mergedInput) First() bool { return in.Next() }

func (in *mergedInput) Next() bool {
	in.move()
	if e := in.entry; in.versions { // of one kind, so that of equal numbers that of the last INPUT comes first
		in.key = table.InternalKey{UserKey: e.Key, Sequence: e.Sequence, Kind: table.KindSet}.Append(in.key[:0])
	} else {
		in.key = e.Key
	}
	return in.Valid()
}

func (in *mergedInput) Valid() bool   { return in.more && in.err == nil }
func (in *mergedInput) Key() []byte   { return in.key }
func (in *mergedInput) Value() []byte { return in.entry.Value }
func (in *mergedInput) Error() error  { return in.err }

func (in *mergedInput) Close() error {
	in.stop()
	return in.err
}

// entries yields the newest entry of each key of each source with its source. Of the entries of a key,
// the one that wins comes first.
func (m *merging) entries() iter.Seq2[mergedEntry, error] {
	return func(yield func(mergedEntry, error) bool) {
		order := m.order
		if m.rule == ruleNewest {
			order = table.InternalComparer(m.order)
		}
		inputs := make([]*mergedInput, len(m.sources))
		its := make([]merge.Iterator, len(m.sources))
		for i, s := range m.sources {
			next, stop := iter.Pull2(s.Scan(source.ScanOptions{Tombstones: true, Scans: len(m.sources)}))
			inputs[i] = &mergedInput{sourceCursor: sourceCursor{next: next}, stop: stop, versions: m.rule == ruleNewest}
			its[i] = inputs[i]
		}
		it := merge.New(order, its...)
		defer it.Close() // returns Error again
		for it.Next() {
			if i := it.Source(); !yield(mergedEntry{inputs[i].entry, m.sources[i]}, m.ctx.Err()) {
				return
			}
		}
		if err := it.Error(); err != nil {
			yield(mergedEntry{}, err)
		}
	}
}

// A mergedEntry is an entry of a source.
type mergedEntry struct {
	source.Entry
	of *source.Source
}

// appendAll appends the pairs that win to w, with internal keys if it is the Writer of a database. It
// returns how many they are.
func (m *merging) appendAll(w appender, internal bool) (n int, err error) {
	var key []byte
	for e, err := range m.entries() {
		if err != nil {
			return n, explainNoKeys(err)
		}
		m.highest = max(m.highest, e.Sequence)
		wins, err := m.wins(e)
		if err == nil && wins {
			if key = append(key[:0], e.Key...); internal {
				key = table.InternalKey{UserKey: e.Key, Sequence: m.sequence(e), Kind: table.KindSet}.Append(key[:0])
			}
			n++
			err = w.Append(key, e.Value)
		}
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// sequence returns the sequence number of an entry of a database.
func (m *merging) sequence(e mergedEntry) uint64 {
	if m.rule == ruleNewest {
		return e.Sequence
	}
	return 0 // those of different databases mean nothing together
}

// wins reports whether the next entry is a pair of OUT.
func (m *merging) wins(e mergedEntry) (bool, error) {
	if m.last.of == nil || !e.of.SameKey(m.last.Key, e.Key) {
		e.Key, e.Value = append(m.last.Key[:0], e.Key...), nil
		m.last, m.counted = e, false
		return e.Kind != table.KindDelete, nil
	}
	deleted := m.last.Kind == table.KindDelete
	if deleted && e.Kind == table.KindDelete {
		return false, nil // whichever wins
	}
	if m.rule == ruleError {
		return false, fmt.Errorf("key %s has an entry in %s, and in %s: to take one of them, use --on-duplicate last, first or newest", wire.Quote(e.Key), m.last.of.Path, e.of.Path)
	}
	if !m.counted {
		m.common++
	}
	if !m.counted && deleted {
		m.deleted++
	}
	m.counted = true
	return false, nil
}

// explainNoKeys says what to do if err is that a table has a filter only.
func explainNoKeys(err error) error {
	if !errors.Is(err, table.ErrFilterOnly) {
		return err
	}
	return errors.Join(err, errors.New("filters have no keys to merge: to unite filters, name the filters alone; to add keys, build a new filter from all keys"))
}

// note prints what became of keys in several sources.
func (m *merging) note(stderr io.Writer) {
	if m.common == 0 {
		return
	}
	which, rest := "of the "+m.rule+" one", ""
	if m.rule == ruleNewest {
		which = "with the highest sequence number"
	}
	if m.deleted > 0 {
		rest = fmt.Sprintf(", %d of which are deletions", m.deleted)
	}
	if m.others {
		rest += "; sequence numbers of different databases do not compare: if these are copies of one, use --on-duplicate newest"
	}
	text.Note(stderr, "of %s in several INPUTs, took the entry %s%s", text.Count(m.common, "key"), which, rest)
}
