package command

import (
	"errors"
	"fmt"

	"github.com/sievetable/sievetable/table/cmd/sst/internal/source"
	"github.com/sievetable/sievetable/table/cmd/sst/internal/text"
)

// maxNamedLosses is how many ranges of lost keys are named each.
const maxNamedLosses = 100

// lostKeys returns errors for the keys within a range that a source has lost, and then what that
// means.
func lostKeys(s *source.Source, within source.KeyRange, meaning string) error {
	var all []error
	losses := s.Losses(within)
	for i := range losses[:min(len(losses), maxNamedLosses)] {
		all = append(all, losses[i].InFile())
	}
	if others := len(losses) - maxNamedLosses; others > 0 {
		all = append(all, fmt.Errorf("%s: lost %s too: they are among the %s", s.Path, text.Count(uint64(others), "other range"), s.Hull(losses[maxNamedLosses:])))
	}
	if all == nil {
		return nil
	}
	return errors.Join(append(all, errors.New(meaning))...)
}
