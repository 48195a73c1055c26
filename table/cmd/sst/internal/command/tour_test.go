package command

import (
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/internal/tour"
)

// readmes have commands.
var readmes = []string{"../../../../../README.md", "../../README.md", "../../../../set/README.md", "../../../../set/BUILDING.md"}

// The commands of the READMEs print what these say.
func TestTour(t *testing.T) {
	long.Test(t)
	tour.Skip(t, "bash", "parallel")
	bin := t.TempDir()
	tour.Link(t, bin, "sst")
	for _, readme := range readmes {
		tour.Check(t, readme, bin)
	}
}
