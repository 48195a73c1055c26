package source

import (
	"path/filepath"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/database"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/output"
)

// OutputName returns a free name for a table made from a file, with suffix instead of the
// extension. It is beside the file, but never in the directory of a database: that is for
// the files of its engine.
func OutputName(path, suffix string) string {
	dir := filepath.Dir(path)
	if name, err := database.FindCurrentOrManifest(dir); name != "" && err == nil {
		path = filepath.Join(dir, "..", filepath.Base(path))
	}
	return output.FreeName(path, suffix)
}
