package command

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/cli"
	"github.com/sievetable/sievetable/table/cmd/internal/dbdir"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/internalkey"
	"github.com/sievetable/sievetable/table/merge"
)

// A merging merges the newest entries of sources.
type merging struct {
	sources []*source.Source // winners first, unless sequence numbers decide
	order   table.Comparer   // of user keys
	rule    string           // not ruleAuto
	others  bool             // sequence numbers come from several databases, so they do not decide
	plain   *source.Source   // one without sequence numbers; nil: none

	key         []byte         // of the last entry that won
	last        *source.Source // the source of that entry; nil: none won yet
	lastDeleted bool           // that entry is a deletion
	counted     bool           // key is counted in common
	internal    []byte         // key as an internal key

	highest uint64 // the highest sequence number of the entries read and the MANIFESTs
	common  uint64 // number of keys with an entry that lost
	deleted uint64 // number of those that are left out because a deletion won
}

// newMerging checks that the sources can be merged. rule is the value of --on-duplicate.
func newMerging(all []*source.Source, rule string) (*merging, error) {
	m := &merging{rule: rule, order: all[0].Order}
	for _, s := range all {
		if !s.HasKeys() {
			continue
		}
		m.sources, m.highest = append(m.sources, s), max(m.highest, s.LastSequence())
		if err := m.sources[0].SameOrder(s); err != nil {
			return nil, err
		}
		if m.order = s.Order; !s.Internal {
			m.plain = s
		}
	}
	switch {
	case rule == ruleNewest && m.plain != nil:
		return nil, cli.UsageErrorf("--on-duplicate is newest, but the keys of %s have no sequence numbers: use last, first or error", m.plain.Path)
	case rule == ruleAuto && m.plain == nil && !haveSeveralDatabases(m.sources):
		m.rule = ruleNewest
	case rule == ruleAuto:
		m.rule, m.others = ruleLast, m.plain == nil
	}
	if m.rule == ruleLast || m.rule == ruleNewest {
		slices.Reverse(m.sources)
	}
	return m, nil
}

// haveSeveralDatabases reports whether two sources belong to different databases: as directories, or as files in
// them.
func haveSeveralDatabases(all []*source.Source) bool {
	database := "" // the first one's directory
	for _, s := range all {
		dir := directoryOf(s.Path)
		if name, _ := versions.FindCurrentOrManifest(dir); name == "" && !s.Dir {
			continue // a lone file can belong to any
		}
		if dir = dbdir.RealName(dir); database != "" && dir != database {
			return true
		}
		database = dir
	}
	return false
}

// directoryOf returns path, or the directory that contains it if it is a file.
func directoryOf(path string) string {
	if files.IsDir(path) {
		return path
	}
	return files.Dir(path)
}

// A mergedInput iterates over the newest entries of a source, for a merge.Iter that moves only forward.
type mergedInput struct {
	merge.Iterator // nil: other moves are not called
	sourceCursor
	of       *source.Source
	stop     func()
	versions bool   // keys are internal keys, so the highest sequence number comes first
	key      []byte // of the entry
}

func (in *mergedInput) First() bool { return in.Next() }

func (in *mergedInput) Next() bool {
	in.move()
	if e := in.entry; in.versions { // all of one kind, so for equal numbers, the last INPUT comes first
		in.key = internalkey.Key{UserKey: e.Key, Sequence: e.Sequence, Kind: internalkey.Set}.Append(in.key[:0])
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

// appendAll appends the winning pairs to OUT. Among the sources' newest entries of a key, the winner comes first.
func (m *merging) appendAll(c *copier) error {
	inputs, its := make([]*mergedInput, len(m.sources)), make([]merge.Iterator, len(m.sources))
	order, byNumber := m.order, m.rule == ruleNewest
	if byNumber {
		order = table.InternalComparer(order)
	}
	for i, s := range m.sources {
		next, stop := iter.Pull2(s.Scan(source.ScanOptions{Tombstones: true, Scans: len(m.sources)}))
		inputs[i] = &mergedInput{sourceCursor: sourceCursor{next: next}, of: s, stop: stop, versions: byNumber}
		its[i] = inputs[i]
	}
	it := merge.New(order, its...)
	defer it.Close() // returns Error again
	for it.Next() {
		err := c.cmd.Context().Err()
		if err == nil {
			err = m.appendIfWins(c, inputs[it.Source()])
		}
		if err != nil {
			return err
		}
	}
	if byNumber {
		c.sequence = m.highest
	}
	err := it.Error()
	if errors.Is(err, table.ErrFilterOnly) {
		return errors.Join(err, errors.New("filters have no keys: merge filters only with filters, or build a new filter from all keys"))
	}
	return err
}

// appendIfWins appends the input's entry, unless it lost or is a deletion.
func (m *merging) appendIfWins(c *copier, in *mergedInput) error {
	e := in.entry
	m.highest = max(m.highest, e.Sequence)
	if m.last != nil && in.of.SameKey(m.key, e.Key) {
		return m.lose(e.Kind == internalkey.Delete, in.of)
	}
	m.key, m.last, m.lastDeleted, m.counted = append(m.key[:0], e.Key...), in.of, e.Kind == internalkey.Delete, false
	if m.lastDeleted {
		return nil
	}
	key := m.key
	if c.internal {
		if m.rule != ruleNewest {
			e.Sequence = 0 // numbers of different databases are not comparable
		}
		m.internal = internalkey.Key{UserKey: e.Key, Sequence: e.Sequence, Kind: internalkey.Set}.Append(m.internal[:0])
		key = m.internal
	}
	return c.Append(key, e.Value)
}

// lose counts an entry of the last key that lost.
func (m *merging) lose(deleted bool, in *source.Source) error {
	switch {
	case deleted && m.lastDeleted: // whichever wins, the key is absent
		return nil
	case m.rule == ruleError:
		return m.duplicate(deleted, in)
	case m.counted:
		return nil
	}
	m.counted = true
	m.common++
	if m.lastDeleted {
		m.deleted++
	}
	return nil
}

// duplicate returns the error for an entry of the last key in another source. Either entry may be a deletion.
func (m *merging) duplicate(deleted bool, in *source.Source) error {
	where := fmt.Sprintf("in both %s and %s", m.last.Path, in.Path)
	if deleted {
		where = fmt.Sprintf("in %s, but deleted in %s", m.last.Path, in.Path)
	} else if m.lastDeleted {
		where = fmt.Sprintf("deleted in %s, but in %s", m.last.Path, in.Path)
	}
	rules := "last, first or newest"
	if m.plain != nil {
		rules = "last or first"
	}
	return fmt.Errorf("key %s is %s: to keep one, use --on-duplicate %s", format.Quote(m.key), where, rules)
}

// note says which entries of keys in several sources were kept.
func (m *merging) note(stderr io.Writer) {
	if m.common == 0 {
		return
	}
	which, rest := "of the "+m.rule+" one", ""
	if m.rule == ruleNewest {
		which = "with the highest sequence number"
	}
	if m.deleted > 0 {
		rest = ", a deletion for " + text.Count(m.deleted, "key")
	}
	if m.others {
		rest += ". Sequence numbers of different databases are not comparable; for copies of one database, use --on-duplicate newest"
	}
	text.Note(stderr, "for %s in several INPUTs, kept the entry %s%s", text.Count(m.common, "key"), which, rest)
}
