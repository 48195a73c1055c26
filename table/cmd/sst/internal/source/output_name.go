package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/sievetable/sievetable/internal/versions"
)

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
