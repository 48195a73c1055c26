package salvage

import "github.com/sievetable/sievetable/internal/format"

// WholeUntil returns the last key of the data blocks that follow each other from the start of the file, if
// blocks were found by their checksums: no entry with a key up to it is lost. What is behind a gap can also be
// a part of another table, which is a value of this one. nil: there is no such block, or keys of them are out of order.
func (s *Salvage) WholeUntil() (key []byte) {
	if !s.Searched {
		return nil
	}
	end := 0
	for e := range s.found.data() {
		it, err := s.found.open(e)
		if e.start != end || err != nil {
			break
		}
		for it.Next() {
			if s.isBefore(it.Key(), key) {
				return nil
			}
			key = append(key[:0], it.Key()...)
		}
		end = e.end + format.TrailerLen
	}
	return key
}
