package dbdir

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/sievetable/sievetable/internal/regular"
	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/table"
	"github.com/sievetable/sievetable/table/cmd/internal/dbfile"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
	"github.com/sievetable/sievetable/table/set"
)

// IsDirectory reports whether a path stands for many files: a directory, or the manifest of a
// set.
func IsDirectory(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir() || isSetManifest(path)
}

// isSetManifest reports whether a file starts as the manifest of a set does, or has its name.
func isSetManifest(path string) bool {
	start, err := dbfile.ReadStart(path)
	line, _, _ := bytes.Cut(start, []byte("\n"))
	isManifest := bytes.HasPrefix(line, []byte("{")) && bytes.Contains(line, []byte(`"sievetable-set"`))
	return err == nil && (isManifest || filepath.Base(path) == set.ManifestName) && !dbfile.IsTable(path)
}

// setManifestOf returns the manifest that a path is, or that a directory has, or "". The
// directory of a database is none of a set.
func setManifestOf(path string) string {
	if isSetManifest(path) {
		return path
	}
	name := filepath.Join(path, set.ManifestName)
	if _, err := os.Lstat(name); err != nil {
		return ""
	}
	if engine, _ := versions.FindCurrentOrManifest(path); engine != "" {
		return ""
	}
	return name
}

// IsSet reports whether a path is the manifest of a set or the directory of one.
func IsSet(path string) bool { return setManifestOf(path) != "" }

// ReadSetManifest reads the manifest of a set.
func ReadSetManifest(path string, o ListOptions) (*set.Manifest, error) {
	f, err := dbfile.OpenRegular(path, o.Outputs)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, err := set.ReadManifest(io.NewSectionReader(f.Src, 0, f.Size))
	if err == nil || errors.As(err, new(*fs.PathError)) {
		return m, f.Wrap(err)
	}
	line, _, _ := bytes.Cut(dbfile.StartOf(f.Src), []byte("\n"))
	var header struct{ Version int }
	if json.Unmarshal(line, &header) == nil && header.Version > 3 { // another version is no damage
		return nil, f.Wrap(err)
	}
	what := err.Error()
	if end, err := dbfile.ReadAt(f.Src, max(0, f.Size-1), min(1, f.Size)); err == nil && len(end) == 1 && end[0] != '\n' {
		what += ": the file ends within a line, so the manifest was cut short: take another copy"
	}
	return nil, f.Wrap(dbfile.Corruption(what))
}

// ListSet lists the tables of the set that a directory or a manifest is. It returns nil if path
// is no set.
func ListSet(path string, o ListOptions) (*Dir, error) {
	manifest := setManifestOf(path)
	if manifest == "" {
		return nil, nil
	}
	d, err := listSet(path, manifest, o)
	return &d, err
}

// listSet lists the tables of a set, in the order of their keys. They are beside the manifest.
func listSet(path, manifest string, o ListOptions) (Dir, error) {
	if o.InternalKeys == dbfile.Yes || cmp.Or(o.Order.Comparer, table.BytewiseComparer).Name() != table.BytewiseComparer.Name() {
		return Dir{}, fmt.Errorf("%s: a set, whose keys are user keys in bytewise order: leave out --internal-keys and --comparator", path)
	}
	m, err := ReadSetManifest(manifest, o)
	if err != nil {
		return Dir{}, err
	}
	dir := filepath.Dir(manifest)
	names, err := regular.DirOf(dir).Names()
	if err != nil {
		return Dir{}, err
	}
	d := Dir{Path: path, Set: manifest, Layers: len(m.Layers), Order: dbfile.ExplicitOrder(table.BytewiseComparer)}
	unlisted := map[string]bool{} // for each name that is there
	for _, name := range names {
		unlisted[name] = isTableName(name)
	}
	for _, t := range tablesOfSet(dir, m) {
		if _, isThere := unlisted[t.Line.Name]; isThere {
			unlisted[t.Line.Name] = false
			d.Tables = append(d.Tables, t)
		} else {
			t.Missing = true
			d.Missing = append(d.Missing, t)
		}
	}
	maps.DeleteFunc(unlisted, func(_ string, is bool) bool { return !is })
	if n := len(unlisted); n > 0 && path != manifest {
		d.note("%s: skipped %s that %s does not list: to read all tables of the directory, use --all-tables", d.Path, text.Count(uint64(n), "table"), filepath.Base(d.Set))
	}
	return d, nil
}

// tablesOfSet returns the tables of a set, those of the newest layer first, in the order of their keys.
func tablesOfSet(dir string, m *set.Manifest) (all []TableFile) {
	add := func(tables []set.Table, rank int, removals bool) {
		for i := range tables {
			t := &tables[i]
			all = append(all, TableFile{Path: filepath.Join(dir, t.Name), Line: t, rank: rank, Layer: len(m.Layers) - rank/2, Removals: removals})
		}
	}
	for i, l := range slices.Backward(m.Layers) {
		rank := 2 * (len(m.Layers) - 1 - i)
		add(l.Tables, rank, false)
		add(l.Removals, rank+1, true)
	}
	add(m.Tables, 2*len(m.Layers), false)
	return all
}
