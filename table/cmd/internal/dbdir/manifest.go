package dbdir

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/sievetable/sievetable/internal/format"
	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/files"
	"github.com/sievetable/sievetable/table/set"
)

// readVersion reads the MANIFEST that CURRENT names or, if that fails, the newest readable MANIFEST. It returns an
// error only if permission is denied.
func (d *Dir) readVersion(o ListOptions, names []string) error {
	v, err := versions.Read(d.Path)
	if d.Version = v; err == nil || errors.Is(err, fs.ErrPermission) {
		return err
	}
	manifests := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !versions.IsManifest(name) })
	slices.SortFunc(manifests, versions.CompareManifests)
	if n := len(manifests); n > 0 {
		if h, err := versions.ReadHistory(d.Path, manifests[n-1]); err == nil && h.Edits > 0 { // its damage is reported below
			d.history = h
		}
	}
	if h := d.history; h != nil && h.Comparer != "" {
		d.Order = dbfile.ManifestOrder(h.Comparer)
	}
	file, why := d.whyNoVersion(err)
	var newest error // error of the newest MANIFEST
	for _, name := range slices.Backward(manifests) {
		v, err := versions.ReadManifest(d.Path, name)
		if newest = cmp.Or(newest, err); v != nil {
			d.Version = v
			_, noCurrent := versions.Current(d.Path)
			older := ""
			if d.Doubt = len(manifests) > 1 || noCurrent == nil; d.Doubt { // CURRENT may have named another MANIFEST, or one that is lost
				older = ", which may be out of date: older or deleted versions may appear"
			}
			instead := fmt.Sprintf("%s: reading %s instead%s", why, filepath.Join(d.Path, name), older)
			if o.Repair && !d.Doubt { // nothing is lost
				d.note("%s: %s", filepath.Join(d.Path, file), instead)
			} else {
				d.addDamage(file, "%s", instead)
			}
			return nil
		}
	}
	d.Doubt = true
	if newest != nil && manifests[len(manifests)-1] != file { // CURRENT is damaged, too
		name := manifests[len(manifests)-1]
		d.addDamage(name, "%s", withoutPath(newest, filepath.Join(d.Path, name)))
	}
	d.readWithoutManifest(o, len(manifests) > 0, file, why)
	return nil
}

// readWithoutManifest reports which tables are read if no MANIFEST can be read. hasManifest says whether there is
// one.
func (d *Dir) readWithoutManifest(o ListOptions, hasManifest bool, file, why string) {
	meaning := "reading all tables in the directory. Some may be obsolete, others may be missing: older or deleted versions may appear"
	switch {
	case len(d.Tables) == 0 && len(d.Logs) == 0:
		meaning = "no table or log is left in the directory"
	case o.Repair && !o.AllTables && d.history != nil: // see leaveOutObsolete
		meaning = "reading the tables that " + d.history.Manifest + " does not mark obsolete. Some may be obsolete all the same, others may be missing: older or deleted versions may appear"
	}
	d.Logs = d.withoutDirs("log", d.Logs)
	switch {
	case d.hasCurrent || hasManifest:
		d.addDamage(file, "%s: %s", why, meaning)
	case o.Repair:
		d.addDamage("", "no MANIFEST: %s", meaning)
	case d.hasEngineFiles(o):
		d.addDamage("CURRENT", "missing, and so is the MANIFEST: %s", meaning)
	case len(d.Logs) > 0:
		d.note("%s has no MANIFEST: reading all tables and logs", d.Path)
	case slices.ContainsFunc(d.Tables, func(t File) bool { return setTable.MatchString(filepath.Base(t.Path)) }):
		d.LostSet = &dbfile.FileError{
			Path: filepath.Join(d.Path, set.ManifestName),
			Err:  dbfile.Corruption("missing, though tables have names of a set: reading all tables in the directory, removed keys may appear. Restore it, or build the set again"),
		}
		if !o.AllTables {
			d.Damage = append(d.Damage, d.LostSet)
		}
	}
}

// setTable matches the table names that package set chooses.
var setTable = regexp.MustCompile(`^[0-9]{6,}-([0-9a-f]{16}|[0-9a-f]{64})\.ldb$`)

// withoutPath returns the message of an error without the path that it starts with.
func withoutPath(err error, path string) string {
	return strings.TrimPrefix(strings.TrimPrefix(err.Error(), path+": "), path+" ")
}

// whyNoVersion returns the file that caused an error of versions.Read, and the reason.
func (d *Dir) whyNoVersion(err error) (file, why string) {
	if !d.hasCurrent {
		return "CURRENT", "missing"
	}
	file = "CURRENT"
	if name, currentErr := versions.Current(d.Path); currentErr == nil {
		file = name
	}
	path := filepath.Join(d.Path, file)
	if _, statErr := os.Stat(path); errors.Is(statErr, fs.ErrNotExist) {
		switch current, failed := dbfile.ReadStart(filepath.Join(d.Path, "CURRENT")); {
		case failed != nil:
			return "CURRENT", "a link to a file that does not exist"
		case !bytes.HasSuffix(current, []byte("\n")):
			return "CURRENT", fmt.Sprintf("cut short: it names %s, which does not exist", file)
		}
		return file, "missing (named in CURRENT)"
	}
	return file, withoutPath(err, path)
}

// applyManifest keeps the tables and logs that the MANIFEST lists, or all. The tables of the MANIFEST stay in the
// order of the Version, so that they need no sorting.
func (d *Dir) applyManifest(o ListOptions, names []string) {
	v := d.Version
	d.Order = dbfile.ManifestOrder(v.Comparer)
	var compare func(a, b []byte) int // nil if unknown
	if c := o.Order.Or(d.Order).Comparer; c != table.AnyOrder {
		compare = table.InternalComparer(c).Compare
	}
	d.Flaws = slices.DeleteFunc(v.Check(compare), func(f versions.Flaw) bool { return d.isDamaged(f.File) }) // Damage reports it
	listed := MissingTable{Manifest: v.Manifest}
	if v.Torn > 0 {
		listed.Flaw = "cut short"
	}
	all, byNumber := make([]File, len(v.Tables)), make(map[uint64]int, len(v.Tables))
	var unlisted []File
	for i, t := range v.Tables {
		all[i], byNumber[t.Number] = d.missing(t, listed), i
	}
	slices.SortFunc(d.Tables, func(a, b File) int { return strings.Compare(a.Path, b.Path) }) // engines open .ldb before .sst
	for _, l := range d.Tables {
		if i, found := byNumber[l.number]; found && all[i].Missing && l.HasEngineName() {
			l.Meta = all[i].Meta
			all[i] = l
		} else {
			unlisted = append(unlisted, l)
		}
	}
	d.Tables = all[:0]
	for i, l := range all {
		if byNumber[l.Meta.Number] == i { // otherwise it is listed twice
			d.Tables = append(d.Tables, l)
		}
	}
	if unlisted = d.withoutDirs("table", unlisted); o.AllTables {
		d.Tables, unlisted = append(d.Tables, unlisted...), nil
	} else if o.Repair {
		unlisted = d.findLost(unlisted)
	}
	if len(unlisted) > 0 {
		d.note("%s: skipped %s, which the MANIFEST does not list (--all-tables reads all tables)", d.Path, firstNames("table", unlisted))
	}
	d.applyToLogs(o, names)
}

// withoutDirs returns the unlisted files of a kind that are not directories: a user gave a directory that name. A live
// log is kept, since a directory in its place is a lost log.
func (d *Dir) withoutDirs(kind string, all []File) (rest []File) {
	var dirs []File
	for _, l := range all {
		if isLive := slices.Contains(d.LiveLogs, l.Path); !isLive && !files.IsURL(l.Path) && files.IsDir(l.Path) {
			dirs = append(dirs, l)
		} else {
			rest = append(rest, l)
		}
	}
	if len(dirs) > 0 {
		d.note("%s: skipped directories with names of %ss: %s", d.Path, kind, firstNames(kind, dirs))
	}
	return rest
}

// applyToLogs keeps the logs that may have writes that are not in tables, or all logs.
func (d *Dir) applyToLogs(o ListOptions, names []string) {
	v := d.Version
	if v.Torn > 0 {
		d.note("%s: %s. The engine was killed while writing it, or the file was cut and may be out of date",
			filepath.Join(d.Path, v.Manifest), v.TornNote())
	}
	if v.Unread > 0 {
		d.Doubt = true
		d.addDamage(v.Manifest, "%s after a header of zeros are ignored, as engines do: if edits are lost, older or deleted versions may appear",
			format.Plural(uint64(v.Unread), "byte"))
	}
	live, lost, err := v.FindLogs(regular.DirOf(d.Path), names)
	if !o.AllTables {
		d.Logs = nil
	}
	for _, name := range live {
		l := numbered(filepath.Join(d.Path, name))
		if d.LiveLogs = append(d.LiveLogs, l.Path); !o.AllTables {
			d.Logs = append(d.Logs, l)
		}
	}
	d.Logs = d.withoutDirs("log", d.Logs)
	for _, n := range lost {
		doubt, lacks := "", false // why the log may have had no writes, or none that are not in tables
		if err == nil {
			lacks, err = v.LacksTables(regular.DirOf(d.Path), names)
		}
		switch {
		case v.Torn > 0:
			doubt = ", which is cut short: the log may be obsolete"
		case err != nil:
			doubt = ": the log may have been empty: " + err.Error()
		case lacks:
			doubt = ", which lacks newer tables and may be cut short: the log may be obsolete"
		}
		d.loseLog(o, n, doubt)
	}
	if d.LostLog != 0 {
		d.lacking = slices.Sorted(slices.Values(names))
	}
}
