package command

import (
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/cmd/internal/tour"
)

// readmes are the READMEs with commands.
var readmes = []string{"../../../../../README.md", "../../README.md", "../../../../set/README.md", "../../../../set/BUILDING.md"}

// The commands in the READMEs print the output shown there.
func TestTour(t *testing.T) {
	long.Test(t)
	tour.Skip(t, "bash", "parallel")
	bin := filepath.Dir(scripttest.Link(t, "sst"))
	for _, readme := range readmes {
		tour.Check(t, readme, bin)
	}
}
