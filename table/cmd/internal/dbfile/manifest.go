package dbfile

import (
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/comparers"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
)

// A Corruption is damage outside of tables.
type Corruption = wal.Corruption

// listing returns the version in the MANIFEST of a file's directory if it lists the file, or else nil. Any log
// counts as listed, since a MANIFEST does not name all logs.
func listing(path string) *versions.Version {
	n, err := versions.FileNumber(path)
	if err != nil && !IsLog(path) || files.IsURL(path) { // databases are never at URLs
		return nil
	}
	v, err := versions.Read(filepath.Dir(path))
	if err != nil || !IsLog(path) && !v.Lists(n) {
		return nil
	}
	return v
}

// IsInManifest reports whether the MANIFEST in the file's directory lists the file. If the MANIFEST is readable,
// it returns true for any log.
func IsInManifest(path string) bool { return listing(path) != nil }

// IsOfDatabase reports whether a file is CURRENT, a MANIFEST, or a log beside one of them.
func IsOfDatabase(path string) bool {
	name := filepath.Base(path)
	return versions.IsCurrentOrManifest(name) || versions.IsLogName(name) && isInDatabase(path)
}

// isInDatabase reports whether the file's directory has a CURRENT file or a MANIFEST.
func isInDatabase(path string) bool {
	name, _ := versions.FindCurrentOrManifest(filepath.Dir(path)) // "" after an error
	return name != ""
}

// MayBeInManifest reports whether the MANIFEST in the file's directory lists the file, or is missing or damaged.
func MayBeInManifest(path string) bool {
	if files.IsURL(path) || !isInDatabase(path) { // databases are never at URLs
		return false
	}
	_, err := versions.Read(filepath.Dir(path))
	return err != nil || IsInManifest(path)
}

// OutputName returns an unused name for a table built from a file, with suffix instead of the extension. It is
// beside the file, but never in a database directory, which is reserved for the engine. If the name is in use,
// OutputName adds the first number ≥ 2 that makes it unused.
func OutputName(path, suffix string) string {
	if isInDatabase(path) {
		path = filepath.Join(filepath.Dir(path), "..", filepath.Base(path))
	}
	stem := strings.TrimSuffix(path, filepath.Ext(path))
	name := stem + suffix
	for n := 2; ; n++ {
		if _, err := os.Lstat(name); err != nil {
			return name
		}
		name = fmt.Sprintf("%s-%d%s", stem, n, suffix)
	}
}

// RepairAdvice says how to repair the database in a directory: by sst repair with the flags or, if sst does not know its
// key order, by its own engine. An engine does not read files that LevelDB's RepairDB set aside in lost, where no
// MANIFEST names their order: the database's MANIFEST does.
func RepairAdvice(dir string, flags ...string) string {
	v, err := versions.Read(dir)
	aside := err != nil && filepath.Base(dir) == "lost"
	if aside {
		v, err = versions.Read(files.Dir(dir))
	}
	if err == nil && len(flags) == 0 {
		order := ManifestOrder(v.Comparer)
		switch {
		case order.Comparer == table.AnyOrder && aside:
			return "run: " + files.CommandLine("scan %s", dir) + " (sst repair would need its key order, which sst does not know)"
		case order.Comparer == table.AnyOrder:
			return "use the repair of the engine that wrote it: sst does not know its key order"
		case order.Comparer != table.BytewiseComparer && aside:
			flags = []string{"--comparator", comparers.FlagValueOf(order.Manifest)}
		}
	}
	return "run: " + strings.Join(slices.Concat([]string{"sst repair"}, flags, []string{format.ShellPath(dir), "-o", format.ShellPath(files.Outside(dir, "NEW"))}), " ")
}

// A Log is a file that is a write-ahead log.
type Log struct {
	Path string
	wal.Log

	Unread func(path string, at int64, err error) // as in Options

	before string // path of the previous log in a database
}

// Writes yields the writes of the log in order. Each is valid until the next one. Damaged parts are skipped, and
// added to Damage.
func (l *Log) Writes() iter.Seq2[wal.Write, error] {
	return func(yield func(wal.Write, error) bool) {
		f, info, err := files.Open(l.Path)
		size, start := int64(0), []byte(nil)
		if err == nil {
			defer f.Close() // it was only read
			size, start = info.Size(), StartOf(f)
		}
		if what := l.inPlace(start, err); what != "" {
			l.Skip(size, what)
			return
		}
		if err != nil {
			l.Start = 0 // if the log was removed, the next one may start with any number
			yield(wal.Write{}, err)
			return
		}
		for w, err := range l.Log.Writes(pastUnreadable(f, l.Path, l.Unread), size) {
			if err != nil {
				err = fmt.Errorf("%s: %w", l.Path, err)
			}
			if !yield(w, err) {
				return
			}
		}
	}
}

// inPlace describes a file without writes in place of the log, or returns "". A file that is not regular means
// lost writes only if a MANIFEST makes the log live.
func (l *Log) inPlace(start []byte, err error) string {
	other := regular.NotRegularError{}
	s, found := StandInOf(l.Path, start, err)
	switch {
	case found:
		return s.What + " (" + s.Next + ")"
	case l.Start > 0 && errors.As(err, &other):
		return other.Error() + " (restore it)"
	}
	return ""
}

// Next returns the next log of the database, with sequence numbers that continue those of l. Read l first.
func (l *Log) Next(path string) *Log { return &Log{path, l.Log.Next(), l.Unread, l.Path} }

// Verify checks the log. It returns the damage and, for a sound log, a remark. inTables is the highest sequence
// number in the database's tables: the log's are higher, since engines write whole logs to tables. before is the
// loss at the end of the previous log.
func (l *Log) Verify(inTables uint64) (remark string, before, err error) {
	var old error
	for w, err := range l.Writes() {
		if err != nil {
			return "", nil, err
		}
		if old == nil && w.Sequence <= inTables {
			old = &FileError{l.Path, wal.Corruptionf("offset %d: sequence number %d, but the tables have numbers up to %d: the log is outdated, and some engines ignore its writes", w.Offset, w.Sequence, inTables)}
		}
	}
	before, err = l.damage()
	return l.UnwrittenNote(), before, errors.Join(err, old)
}

// DamageError returns the skipped parts as an error, or nil. Parts that lost the same writes are combined. It
// also includes losses of the previous log, as damage of that log: they show only in the sequence numbers here.
func (l *Log) DamageError() error { return errors.Join(l.damage()) }

// damage is like DamageError, but returns the losses of the previous log separately.
func (l *Log) damage() (before, own error) {
	var files, errs []error
	for i := 0; i < len(l.Damage); {
		d, first := l.Damage[i], i
		for i++; i < len(l.Damage) && sameLoss(d, l.Damage[i]); i++ {
			d.Bytes += l.Damage[i].Bytes
		}
		if more := i - first - 1; more > 0 {
			d.Reason += ", and " + format.Plural(uint64(more), "more damaged part")
		}
		if d.InLogBefore {
			files = append(files, &FileError{l.before, Corruption(d.Error())})
		} else {
			errs = append(errs, Corruption(d.Error()))
		}
	}
	if errs != nil {
		own = &FileError{l.Path, errors.Join(errs...)}
	}
	return errors.Join(files...), own
}

// sameLoss reports whether two parts of a log have lost the same writes.
func sameLoss(a, b wal.LogDamage) bool {
	return !a.InLogBefore && !b.InLogBefore && b.Further == 0 && a.After == b.After && a.Before == b.Before
}
