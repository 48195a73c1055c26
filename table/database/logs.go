package database

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sort"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// readLogs reads the writes of the live logs into m, and returns the last sequence number of the
// database.
func (p *opener) readLogs(m *memory, v *versions.Version) (last uint64, err error) {
	if p.o.IgnoreLogs {
		return v.LastSequence, nil
	}
	logs, err := p.liveLogs(v)
	if err != nil {
		return 0, err
	}
	// Sequence numbers continue from the last one in the MANIFEST.
	l := wal.Log{Start: v.LastSequence + 1, Stored: v.Stored}
	for i, name := range logs {
		if i > 0 {
			l = l.Next()
		}
		if i == len(logs)-1 {
			l.After, l.UpTo = v.Logged()
		}
		if err := p.readLog(&l, name, m); err != nil {
			return 0, err
		}
		if err := p.damageOf(&l, name, logs[max(0, i-1)]); err != nil {
			return 0, err
		}
	}
	m.sort()
	return max(v.LastSequence, l.Last()), nil
}

// liveLogs returns the names of the live logs, the oldest first.
func (p *opener) liveLogs(v *versions.Version) ([]string, error) {
	names, err := p.dir.Names()
	if err != nil {
		return nil, err
	}
	live, lost, err := v.FindLogs(p.dir, names)
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // a file that vanished may be lost, too
		return nil, err
	}
	if len(lost) > 0 {
		slices.Sort(names)
		p.lacking = strings.Join(names, "/")
	}
	for _, n := range lost {
		name := versions.LogName(n)
		if err := p.missingLog(name); p.lacking != p.lacked || !p.goesOnWithout(table.Loss{File: p.dir.Path(name), Offset: -1, Err: err}) {
			return nil, err
		}
	}
	return live, nil
}

// missingLog is the error for a live log that does not exist.
func (p *opener) missingLog(name string) error {
	return wal.Corruptionf("%s does not exist, but the MANIFEST names it or an earlier log, so writes may be lost: restore it, or set IgnoreLogs",
		p.dir.Path(name))
}

// readLog reads the writes of a log. Like an engine, it leaves out incomplete writes.
func (p *opener) readLog(l *wal.Log, name string, m *memory) error {
	f, info, err := p.dir.Open(name)
	if errors.Is(err, fs.ErrNotExist) { // it was there a moment ago
		return p.missingLog(name)
	}
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	for w, err := range l.Writes(f, info.Size()) {
		if err != nil {
			return fmt.Errorf("%s: %w", p.dir.Path(name), err)
		}
		m.add(w)
	}
	return nil
}

// damageOf returns an error for the damage found while reading a log, except losses without which Open continues.
// The damage can be in the previous log: see wal.LogDamage.
func (p *opener) damageOf(l *wal.Log, name, before string) error {
	var damage []error
	for _, d := range l.Losses() {
		loss := table.Loss{File: p.dir.Path(name), Offset: d.Offset}
		if d.Further == 0 && !d.StepsBack() { // else the numbers bound nothing
			loss.FirstSequence, loss.LastSequence = d.After+1, max(1, d.Before)-1
		}
		if d.InLogBefore {
			loss.File = p.dir.Path(before)
		}
		loss.Err = wal.Corruptionf("%s: %v: %s, or set IgnoreLogs", loss.File, d, p.advice())
		if !p.goesOnWithout(loss) {
			damage = append(damage, loss.Err)
		}
	}
	return errors.Join(damage...)
}

// A memory has the writes of logs, in the order of their internal keys. It is compact, since a hostile log can have
// very many small writes.
type memory struct {
	order table.Comparer // of internal keys
	data  []byte         // of each write: the length of its internal key, the key, the length of its value, the value
	at    []int          // offset of each write in data
}

// add adds a write. Call sort after the last one.
func (m *memory) add(w wal.Write) {
	m.at = append(m.at, len(m.data))
	m.data = binary.AppendUvarint(m.data, uint64(len(w.UserKey)+format.InternalTrailerLen))
	m.data = w.Key.Append(m.data)
	m.data = binary.AppendUvarint(m.data, uint64(len(w.Value)))
	m.data = append(m.data, w.Value...)
}

// sort sorts the writes. Among writes with equal keys, the last comes first, so lookups find it: an engine that
// failed to write a batch reuses its sequence numbers for the next one.
func (m *memory) sort() {
	slices.SortFunc(m.at, func(a, b int) int {
		keyA, _ := cut(m.data[a:])
		keyB, _ := cut(m.data[b:])
		return cmp.Or(m.order.Compare(keyA, keyB), cmp.Compare(b, a))
	})
}

// cut returns the length-prefixed part at the start of data, and the rest.
func cut(data []byte) (part, rest []byte) {
	n, size := binary.Uvarint(data)
	end := size + int(n)
	return data[size:end:end], data[end:]
}

// entry returns the internal key and the value of write i.
func (m *memory) entry(i int) (key, value []byte) {
	key, rest := cut(m.data[m.at[i]:])
	value, _ = cut(rest)
	return key, value
}

// search returns the index of the first write that is ≥ an internal key.
func (m *memory) search(key []byte) int {
	return sort.Search(len(m.at), func(i int) bool {
		k, _ := cut(m.data[m.at[i]:])
		return m.order.Compare(k, key) >= 0
	})
}

// iter returns an Iterator over the writes ≥ lower and < upper, which are internal keys. Nil means no bound.
func (m *memory) iter(lower, upper []byte) merge.Iterator {
	from, to := 0, len(m.at)
	if lower != nil {
		from = m.search(lower)
	}
	if upper != nil {
		to = max(from, m.search(upper))
	}
	return merge.NewMemoryIter(m.order, to-from, func(i int) (key, value []byte) { return m.entry(from + i) })
}
