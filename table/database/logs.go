package database

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
)

// A logFile is a log that can have writes that are in no table.
type logFile struct {
	number uint64
	name   string
}

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
	// The numbers of a database go on from the last one in its MANIFEST.
	l := wal.Log{Start: v.LastSequence + 1}
	for i, f := range logs {
		if i > 0 {
			l = l.Next()
		}
		if err := p.readLog(&l, f.name, m); err != nil {
			return 0, err
		}
	}
	m.sort()
	return max(v.LastSequence, l.Last()), nil
}

// liveLogs returns the live logs, the oldest first. An engine creates a log before it names it in the
// MANIFEST, so one that does not exist is lost.
func (p *opener) liveLogs(v *versions.Version) ([]logFile, error) {
	names, err := p.dir.Names()
	if err != nil {
		return nil, err
	}
	var logs []logFile
	there := map[uint64]bool{}
	for _, name := range names {
		digits, _ := versions.LogNumber(name)
		n, err := strconv.ParseUint(digits, 10, 64)
		if err == nil && name == logName(n) && v.Live(n) {
			logs, there[n] = append(logs, logFile{n, name}), true
		}
	}
	for _, n := range v.Logs() {
		if !there[n] {
			return nil, p.missingLog(logName(n))
		}
	}
	slices.SortFunc(logs, func(a, b logFile) int { return cmp.Compare(a.number, b.number) })
	return logs, nil
}

// logName returns the name that engines give a log. They read none of another name.
func logName(number uint64) string { return fmt.Sprintf("%06d.log", number) }

// missingLog is the error for a live log that does not exist.
func (p *opener) missingLog(name string) error {
	return wal.Corruptionf("%s does not exist, and the MANIFEST names this log or one before it, so writes are lost: put it back, or set IgnoreLogs",
		p.dir.Path(name))
}

// readLog reads the writes of a log. What was never written completely is left out, as an engine
// does.
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
	var damage []error
	for _, report := range l.Reports() {
		damage = append(damage, wal.Corruption(report))
	}
	if damage != nil {
		return fmt.Errorf("%s: %w: %s, or set IgnoreLogs", p.dir.Path(name), errors.Join(damage...), p.advice())
	}
	return nil
}
