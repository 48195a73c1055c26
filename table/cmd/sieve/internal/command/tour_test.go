package command

import (
	"path/filepath"
	"testing"

	"github.com/sievetable/sievetable/internal/long"
	"github.com/sievetable/sievetable/table/cmd/internal/scripttest"
	"github.com/sievetable/sievetable/table/cmd/internal/tour"
)

// The commands of the README print what it says.
func TestTour(t *testing.T) {
	long.Test(t)
	tour.Skip(t, "bash")
	bin := filepath.Dir(scripttest.Link(t, "sieve"))
	tour.Check(t, "../../README.md", bin)
}
