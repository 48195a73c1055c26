package setio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/sievetable/sievetable/table/set"
)

// pendingName is the name of a table before its SHA-256 is known. No file has it: until then
// the file is sievetable-….tmp.
const pendingName = "pending.ldb"

// tableName returns the name of a table.
func tableName(number int64, sha256 string, filterOnly bool) string {
	ext := "ldb"
	if filterOnly {
		ext = "filter" // for LevelDB it would be an empty table
	}
	return fmt.Sprintf("%06d-%s.%s", number, sha256, ext)
}

// ours matches the names of tables and of temporary files that builds write.
var ours = regexp.MustCompile(`^([0-9]{6,}-[0-9a-f]{64}\.(ldb|filter)|sievetable-[0-9a-f]{16}\.tmp)$`)

// prepare makes the directory. It finds out early whether a file that is no manifest would be
// replaced by one.
func prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return fmt.Errorf("setio: directory of the set: %w", err)
	}
	_, err := readManifest(dir)
	return err
}

// readManifest reads the manifest in path. If there is none, it is nil.
func readManifest(path string) (*set.Manifest, error) {
	dir := set.NewDir(path)
	defer dir.Close() // it was only read
	m, err := dir.ReadManifest()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("setio: earlier manifest %s: %w: remove it, or write to another directory",
			filepath.Join(path, set.ManifestName), err)
	}
	return m, nil
}

// writeManifest writes the manifest in path, and returns the name of its file.
func writeManifest(path string, m *set.Manifest) (string, error) {
	dir := set.NewDir(path)
	defer dir.Close()
	if err := dir.WriteManifest(m); err != nil {
		return "", fmt.Errorf("setio: %w", err)
	}
	return filepath.Join(path, set.ManifestName), nil
}

// Sweep removes the tables and temporary files that builds have written in dir. It keeps the tables
// of the manifest in dir and those of keep, such as the manifest that a service still reads. A nil
// manifest has none. Files of other programs stay. Call Sweep when no build in dir is running,
// since a build has tables that no manifest lists yet.
func Sweep(dir string, keep ...*set.Manifest) error {
	current, err := readManifest(dir)
	if err != nil {
		return err
	}
	kept := map[string]bool{}
	for _, m := range slices.Concat(keep, []*set.Manifest{current}) {
		if m != nil {
			for t := range m.All() {
				kept[t.Name] = true
			}
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("setio: remove tables of earlier builds: %w", err)
	}
	for _, f := range files {
		if !f.Type().IsRegular() || kept[f.Name()] || !ours.MatchString(f.Name()) {
			continue
		}
		if err := os.Remove(filepath.Join(dir, f.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("setio: remove a file of an earlier build: %w", err)
		}
	}
	return nil
}
