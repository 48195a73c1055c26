package source

import "bytes"

// MissingTables returns the tables of a set that do not exist and have keys within the bounds,
// in the order of keys. Each has a Line.
func (s *Source) MissingTables(o ScanOptions) []*Table {
	var missing []*Table
	for _, t := range s.Tables {
		below := o.From != nil && bytes.Compare(t.largest, o.From) < 0
		above := o.To != nil && bytes.Compare(t.smallest, o.To) >= 0
		if t.Missing && !below && !above {
			missing = append(missing, t)
		}
	}
	return missing
}

// IsMissing reports whether the only table that may have a key is a missing one of a set.
func (s *Source) IsMissing(key []byte) bool {
	if !s.set {
		return false
	}
	tables := s.candidates(key)
	return len(tables) == 1 && tables[0].Missing
}
