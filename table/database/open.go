package database

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/openfiles"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/merge"
)

// Open opens the database in the directory dir. If o is nil, the defaults are used. If dir has no CURRENT, the error
// is fs.ErrNotExist. If a file is corrupt, or one that CURRENT or the MANIFEST names is missing, it is
// [table.ErrCorrupt].
//
// An engine may write to the database meanwhile. If files vanish while Open reads, it tries again. Tables stay open
// or mapped, so the engine may delete them. If there are more tables than a quarter of the open-file limit, the rest
// are opened when they are read, and fail with fs.ErrNotExist once they are deleted.
//
// Logs, filters and indexes are in memory: each write in a log with about 20 bytes more, 1.5 bytes per entry with
// 10-bit filters, and a key and 30 bytes per data block.
func Open(dir string, o *Options) (*DB, error) {
	for range maxTries {
		real := dir
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			real = resolved
		}
		before, _ := regular.Identify(real)
		db, err := openDir(regular.DirOf(real), before, o)
		if after, _ := os.Stat(real); before == nil || after == nil || os.SameFile(before, after) {
			return db, err
		}
		if err == nil { // another directory took the name meanwhile
			db.Close() // it was only read
		}
	}
	return nil, fmt.Errorf("database: %s: another directory keeps taking its name: try again later", dir)
}

// OpenFS is like [Open] for the directory dir of fsys. Files must be regular, and have a ReadAt method that is safe
// for concurrent use, as in os.DirFS and embed.FS. Reader.Mapped is ignored.
func OpenFS(fsys fs.FS, dir string, o *Options) (*DB, error) {
	if fsys == nil { // regular.DirIn would take it for the operating system's
		return nil, errors.New("database: nil file system")
	}
	if !fs.ValidPath(dir) {
		return nil, fmt.Errorf("database: %w", &fs.PathError{Op: "open", Path: dir, Err: fs.ErrInvalid})
	}
	return openDir(regular.DirIn(fsys, dir), nil, o)
}

// maxTries is the maximum number of attempts of Open.
const maxTries = 20

// openDir opens the database in dir. info describes dir, or is nil for a directory of an fs.FS.
func openDir(dir regular.Dir, info fs.FileInfo, o *Options) (*DB, error) {
	opts, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := opener{dir: dir, info: info, o: opts, opened: map[uint64]*openedTable{}, agreed: map[string]func() bool{}}
	defer p.end()
	before := ""
	for range maxTries {
		var db *DB
		if db, err = p.try(); err == nil {
			return db, nil
		}
		now := err.Error() + p.lacking
		if now == before && p.firstNew == nil { // the error persists
			break
		}
		before = now
		// Missing and corrupt files can come from an engine that changes them. Other errors, such as too many open
		// files, can come from the tables that are open: the next attempt would fail at another file.
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, table.ErrCorrupt) {
			p.end()
			clear(p.opened)
		}
	}
	return nil, fmt.Errorf("database: %w", err)
}

// An opener opens a database, and with LazyTables its tables, at their first use.
type opener struct {
	dir    regular.Dir
	info   fs.FileInfo // of dir; nil for a directory of an fs.FS
	o      Options
	names  []string                // in dir, sorted; nil: tables are opened at once
	opened map[uint64]*openedTable // by number: open tables, also of failed attempts
	files  *openfiles.Files        // of the tables, if there are too many to keep open; else nil
	agreed map[string]func() bool  // the results of OnLoss, by the messages of the losses

	firstNew error // of the first loss that was not in an earlier attempt, or nil

	// The names in dir if they lack a live log, else "", in this attempt and in the one before. goleveldb can remove an
	// empty log without an edit, so two attempts can miss the same log of a sound database. It is lost if the other
	// names are the same.
	lacking, lacked string
}

// goesOnWithout reports whether Open continues without a lost part. A file that one attempt misses can be one that an
// engine has just deleted. So a new loss makes Open try again, and OnLoss is called once if the loss recurs.
func (p *opener) goesOnWithout(l table.Loss) bool {
	if p.o.OnLoss == nil || !errors.Is(l.Err, table.ErrCorrupt) {
		return false
	}
	why := l.Err.Error()
	agreed, recurs := p.agreed[why]
	if !recurs {
		p.agreed[why] = sync.OnceValue(func() bool { return userLoss(p.o.OnLoss)(l) })
		p.firstNew = cmp.Or(p.firstNew, l.Err)
	}
	return p.firstNew != nil || agreed()
}

// limitOpenFiles limits the number of open files if the version has many tables.
func (p *opener) limitOpenFiles(v *versions.Version) {
	most := regular.MaxOpenFiles()
	if p.files != nil || len(v.Tables) <= most {
		return
	}
	p.files = openfiles.New(most,
		func(path string) (regular.File, fs.FileInfo, error) { return p.dir.Open(filepath.Base(path)) },
		func(path string) error {
			return fmt.Errorf("%s: replaced since the database was opened: open the database again", path)
		})
}

// try opens the database as it is now.
func (p *opener) try() (*DB, error) {
	p.firstNew, p.lacking, p.lacked = nil, "", p.lacking
	v, err := versions.ReadDir(p.dir)
	if err != nil {
		return nil, p.explain(err)
	}
	manifest := p.dir.Path(v.Manifest)
	if v.Unread > 0 {
		return nil, wal.Corruptionf("%s: %s after a header of zeros are not read, and may list tables: %s",
			manifest, format.Plural(uint64(v.Unread), "byte"), p.advice())
	}
	user := p.o.comparer(v.Comparer)
	if user == nil {
		return nil, fmt.Errorf("%s: unknown comparator %s: add the table.Comparer of that name to Options.Comparers",
			manifest, format.Quote([]byte(v.Comparer)))
	}
	internal := table.InternalComparer(user)
	for _, f := range v.Check(internal.Compare) {
		if f.Fatal {
			return nil, wal.Corruptionf("%s: %s: %s", p.dir.Path(f.File), f.What, p.advice())
		}
	}
	if p.o.LazyTables {
		if p.names, err = p.dir.Names(); err != nil {
			return nil, err
		}
		slices.Sort(p.names)
	}
	p.limitOpenFiles(v)
	c := &contents{order: user, internal: internal, memory: memory{order: internal}, inTables: v.LastSequence}
	db := &DB{View: View{contents: c}}
	err = p.openTables(db, v, v.Levels(internal.Compare))
	if err == nil {
		db.sequence, err = p.readLogs(&c.memory, v)
	}
	if err = cmp.Or(err, p.firstNew); err != nil {
		return nil, explainLimit(err)
	}
	p.keepOpen(db)
	return db, nil
}

// explainLimit adds advice if the process has too many open files.
func explainLimit(err error) error {
	if !errors.Is(err, syscall.EMFILE) {
		return err
	}
	return fmt.Errorf("%w: raise the limit of open files", err)
}

// explain adds advice to an error of reading CURRENT or the MANIFEST.
func (p *opener) explain(err error) error {
	missing := errors.Is(err, fs.ErrNotExist)
	if !missing && !errors.Is(err, table.ErrCorrupt) {
		return err
	}
	if names, _ := p.dir.Names(); missing && !slices.ContainsFunc(names, versions.IsManifest) {
		return fmt.Errorf("%w: not the directory of a LevelDB database", err)
	}
	return fmt.Errorf("%w: %s", err, p.advice())
}

// advice says what to do with a corrupt database.
func (p *opener) advice() string {
	return fmt.Sprintf(`restore the file, or read what is left with "sst scan %s"`, format.ShellPath(p.dir.Path("")))
}

// openTables opens the tables of all levels. It reuses those that an earlier attempt has opened.
func (p *opener) openTables(db *DB, v *versions.Version, levels [][]*versions.Table) error {
	for _, tables := range levels {
		for i, t := range tables {
			o, err := p.openTable(t, v, db.contents)
			if err != nil {
				o = p.tableNamed(o.name, t, err) // if it is open, it is closed at the end
				if !p.goesOnWithout(o.loss()) {
					return err
				}
			}
			if i == 0 || t.Level == 0 {
				db.runs = append(db.runs, run{})
			}
			db.runs[len(db.runs)-1].Insert(db.internal, o, merge.LevelTable{Name: o.path, Smallest: t.Smallest, Largest: t.Largest})
			db.tables = append(db.tables, Table{t.Level, t.Number, o.name, int64(t.Size), parsed(t.Smallest), parsed(t.Largest)})
		}
	}
	return nil
}

// keepOpen leaves the tables of db open when the opener ends.
func (p *opener) keepOpen(db *DB) {
	p.names = nil // no table needs them any longer
	for i := range db.runs {
		for _, t := range db.runs[i].Tables {
			if t.lost == nil {
				delete(p.opened, t.listed.Number)
			}
		}
	}
}

// end closes the tables that are not needed.
func (p *opener) end() {
	for _, t := range p.opened {
		t.Close() // it was only read
	}
}
