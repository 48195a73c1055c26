package dbfile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sievetable/sievetable/internal/wal"
	"github.com/sievetable/sievetable/table/cmd/internal/filetest"
)

// put returns a batch with a value that spans a few blocks of the log.
func put(sequence byte) string {
	return string(sequence) + "\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x01\x01a\xf0\xa2\x04" + strings.Repeat("v", 70000)
}

// An incomplete batch is not damage if the database reused its sequence number for the next batch in the same
// log. If the next batch has another number, the incomplete one is lost.
func TestTornBatches(t *testing.T) {
	t.Parallel()
	const block = 32 << 10
	for name, tt := range map[string]struct {
		torn    []string // only the first block of each is written
		last    []string
		note    string
		reports []string
	}{
		"went on": {[]string{put(6)}, []string{filetest.Deletion(6), filetest.Deletion(7)}, "32761 bytes in it are an incomplete record, which is ignored", nil},
		"twice":   {[]string{put(6), put(6)}, []string{filetest.Deletion(6)}, "65522 bytes in it are 2 incomplete records, which are ignored", nil},
		"went on, and writes are missing": {[]string{put(9)}, []string{filetest.Deletion(9)}, "32761 bytes in it are an incomplete record, which is ignored",
			[]string{"offset 65536: writes before this offset are missing: the writes with sequence numbers 6 to 8 are lost"}},
		"lost": {[]string{put(6)}, []string{filetest.Deletion(7)}, "",
			[]string{"offset 32768: record without its last fragment, 32761 bytes skipped: the write with sequence number 6 is lost"}},
		"lost, and torn": {[]string{put(6), put(7)}, []string{filetest.Deletion(7)}, "32761 bytes in it are an incomplete record, which is ignored",
			[]string{"offset 32768: record without its last fragment, 32761 bytes skipped: the write with sequence number 6 is lost"}},
		"to the end": {[]string{put(6), put(6)}, nil, "32761 bytes in it are an incomplete record, which is ignored, and 32768 bytes at its end are an incomplete record, which is ignored", nil},
	} {
		t.Run(name, func(t *testing.T) {
			log := filetest.Log(t, filetest.Deletion(5))
			log = append(log, make([]byte, block-len(log))...)
			for _, batch := range tt.torn {
				log = append(log, filetest.Log(t, batch)[:block]...)
			}
			log = append(log, filetest.Log(t, tt.last...)...)
			l := &Log{Path: filetest.Write(t, "000001.log", log), Log: wal.Log{Start: 5}}
			for _, err := range l.Writes() {
				noError(t, err)
			}
			if diff := cmp.Diff(tt.note, l.UnwrittenNote()); diff != "" {
				t.Errorf("note (-want +got):\n%s", diff)
			}
			var reports []string
			for _, d := range l.Damage {
				reports = append(reports, d.Error())
			}
			if diff := cmp.Diff(tt.reports, reports); diff != "" {
				t.Errorf("reports (-want +got):\n%s", diff)
			}
		})
	}
}
