package dbfile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/text"
)

func FileNumber(path string) (uint64, error) {
	base := filepath.Base(path)
	return strconv.ParseUint(strings.TrimSuffix(base, filepath.Ext(base)), 10, 64)
}

// A Corruption is damage of a database that is not in a table.
type Corruption = wal.Corruption

// listing returns what the MANIFEST in a file's directory says, if it lists the file, or else nil. It does not name all
// logs.
func listing(path string) *versions.Version {
	n, err := FileNumber(path)
	if err != nil && !IsLog(path) {
		return nil
	}
	v, err := versions.Read(filepath.Dir(path))
	if err != nil || !IsLog(path) && !v.Lists(n) {
		return nil
	}
	return v
}

// IsInManifest reports whether the MANIFEST in the file's directory lists the file, or it is a log.
func IsInManifest(path string) bool { return listing(path) != nil }

// OutputName returns a free name for a table made from a file, with suffix instead of the
// extension. It is beside the file, but never in the directory of a database: that is for
// the files of its engine. If a file has that name already, it adds the first number ≥ 2 that
// makes the name free.
func OutputName(path, suffix string) string {
	dir := filepath.Dir(path)
	if name, err := versions.FindCurrentOrManifest(dir); name != "" && err == nil {
		path = filepath.Join(dir, "..", filepath.Base(path))
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

// RepairCommand is the command line that makes a new database of what is left of one in a directory.
func RepairCommand(dir string) string { return "sst repair " + text.ShellPath(dir) + " -o NEW" }
