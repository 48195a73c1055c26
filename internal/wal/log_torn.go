package wal

import (
	"fmt"

	"github.com/sievetable/sievetable/internal/format"
)

// torn is what a log has of batches whose writing was interrupted, when the next one has the same
// sequence number: the process was killed, and the database was opened again and went on with this
// log, as C++ LevelDB does with reuse_logs. Such a batch was never written for the database.
type torn struct {
	Records int
	Bytes   int64

	begun    *Damage // one that may be torn: what follows says it
	sequence uint64  // of its first write
}

// begin takes note of a record that may be torn, and reports whether it is one. If another one is
// noted, isBegunBy holds.
func (t *torn) begin(d Damage) bool {
	sequence, ok := FirstSequence(d.Torn)
	if !ok {
		return false
	}
	t.end()
	d.Torn, t.begun, t.sequence = nil, &d, sequence
	return true
}

// isBegunBy reports whether a record may be torn too, which shows that the one before it is.
func (t *torn) isBegunBy(d Damage) bool {
	sequence, ok := FirstSequence(d.Torn)
	return ok && sequence <= t.sequence
}

// endBefore ends a record that may be torn, and reports whether it is, as the next write says.
func (t *torn) endBefore(sequence uint64) bool {
	if sequence <= t.sequence {
		t.end()
		return true
	}
	t.begun = nil
	return false
}

// end counts a record as torn.
func (t *torn) end() {
	if t.begun != nil {
		t.Records++
		t.Bytes += t.begun.Bytes
	}
	t.begun = nil
}

// note says how much is torn, or returns "".
func (t *torn) note() string {
	switch t.Records {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf("%s in it are an incomplete record, which is ignored", format.Plural(uint64(t.Bytes), "byte"))
	}
	return fmt.Sprintf("%s in it are %d incomplete records, which are ignored", format.Plural(uint64(t.Bytes), "byte"), t.Records)
}
